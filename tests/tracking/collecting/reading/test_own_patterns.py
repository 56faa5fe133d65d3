"""Patterns of a person: what they find, what is refused, and that none of them takes for ever."""

import pytest

from apps.tracking.collecting.reading.own_patterns import BadPattern, compiled, found_in
from apps.tracking.collecting.reading.pattern_process import TookTooLong, find


def test_names_and_values_or_a_group_for_each_metric() -> None:
    patterns = compiled([r"E(?P<step>\d+) (?P<loss>[\d.]+)", r"(?P<name>\w+)=(?P<value>\S+)"])
    assert found_in(patterns, "E7 0.5 acc=91% other=x") == [("loss", 0.5, 7), ("acc", 91.0, None)]


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("(", "syntax"),
        ("x" * 301, "long"),
        (r"loss (\d+)", "groups"),
        ("(?P<step>1)", "groups"),
        ("(?P<name>a)", "groups"),
    ],
)
def test_what_is_refused(pattern: str, code: str) -> None:
    with pytest.raises(BadPattern) as error:
        compiled(["(?P<loss>1)", pattern])
    assert (error.value.code, error.value.number) == (code, 1)


def test_lines_are_matched_in_a_process_of_its_own() -> None:
    assert find([r"loss is (?P<loss>\S+)"], ["loss is 0.5", "nothing"]) == [[("loss", 0.5, None)], []]


def test_a_pattern_that_does_not_come_to_an_end_is_ended() -> None:
    with pytest.raises(TookTooLong):
        find([r"(?P<loss>(a+)+)$"], ["a" * 60 + "b"], time_s=1)
