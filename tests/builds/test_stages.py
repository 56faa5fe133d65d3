"""Stages of a Containerfile: which are carried out, on what, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.builds.plan import make
from apps.common.errors import Invalid

THREE = """ARG VERSION=12
FROM debian:$VERSION AS tools
ARG VERSION
ARG PIN=1
ENV PLACE=/srv
WORKDIR $PLACE
RUN install $PIN
FROM alpine AS other
RUN never
FROM Tools AS final
RUN build $PIN
CMD ["run"]
"""


def steps(text: str, target: str = "") -> list[str]:
    return [step.text for step in make(text, (), target).steps]


def test_a_stage_goes_on_in_the_one_that_it_begins_on() -> None:
    plan = make(THREE, ())
    assert (plan.base, plan.base_line) == ("debian:12", 2)
    assert [step.line for step in plan.steps] == [6, 7, 11]
    assert plan.steps[-1].workdir == "/srv"
    assert plan.steps[-1].env == {"VERSION": "12", "PIN": "1", "PLACE": "/srv"}
    assert plan.making.config["Cmd"] == ["run"]


@pytest.mark.parametrize(
    ("target", "last"),
    [
        ("tools", "RUN install $PIN"),
        ("TOOLS", "RUN install $PIN"),
        ("0", "RUN install $PIN"),
        ("1", "RUN never"),
        ("final", "RUN build $PIN"),
        ("2", "RUN build $PIN"),
        ("", "RUN build $PIN"),
    ],
)
def test_the_target_is_named_or_numbered(target: str, last: str) -> None:
    assert steps(THREE, target)[-1] == last
    assert ("RUN never" in steps(THREE, target)) == (target == "1")


def test_what_is_said_before_the_first_from_counts_inside_only_where_it_is_named() -> None:
    plan = make("ARG A=1\nARG B=$A.2\nFROM base:$B\nRUN one\nARG B\nRUN two\nARG B=3\nRUN three\n", ())
    assert plan.base == "base:1.2"
    assert [step.env for step in plan.steps] == [{}, {"B": "1.2"}, {"B": "3"}]


def test_an_image_may_be_called_as_its_stage() -> None:
    assert make("FROM golang AS golang\nRUN x\nFROM golang\nRUN y\n", ()).base == "golang"
    assert steps("FROM golang AS golang\nRUN x\nFROM golang\nRUN y\n") == ["RUN x", "RUN y"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("FROM b AS a\nRUN x\nFROM a AS b\nRUN y", "Line 1: the stage b comes only after"),
        ("FROM x AS a\nRUN x\n\nFROM y AS A\nRUN y", "Line 4: there is a stage called a already"),
        ("FROM x AS 2\nRUN x", "Line 1: a stage's name begins with a letter"),
        ("FROM x AS\nRUN x", "Line 1: name one image"),
        ("FROM x\nFROM x y\nRUN x", "Line 2: name one image"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=a /x /x", "Line 4: files of another stage"),
        ("FROM x\nRUN x\nFROM y\nARG 1=2\nRUN x", "Line 4: write it as NAME=value"),
    ],
)
def test_what_cannot_be_built_is_said_with_its_line(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        make(text, ())
    assert list(refused.value.fields) == ["containerfile"]


@pytest.mark.parametrize("target", ["absent", "3", "-1", "00"])
def test_a_target_that_is_not_there_is_refused_beside_its_field(target: str) -> None:
    with pytest.raises(Invalid) as refused:
        make(THREE, (), target)
    assert list(refused.value.fields) == ["target"]


PARENTS = st.lists(st.integers(0, 5), min_size=1, max_size=6)


@given(PARENTS, st.data())
def test_exactly_the_stages_on_the_way_to_an_image_are_carried_out(parents: list[int], data: st.DataObject) -> None:
    """Stage n begins on an earlier one or, where the drawn number is no earlier one's, on an image of its own."""
    ancestors: list[list[int]] = []
    lines = []
    for number, parent in enumerate(parents):
        inherits = parent < number
        lines += [f"FROM {f's{parent}' if inherits else f'image{number}'} AS s{number}", f"RUN step{number}"]
        ancestors.append([*(ancestors[parent] if inherits else []), number])
    wanted = data.draw(st.integers(0, len(parents) - 1))
    plan = make("\n".join(lines), (), f"s{wanted}")
    assert [step.text for step in plan.steps] == [f"RUN step{number}" for number in ancestors[wanted]]
    assert plan.base == f"image{ancestors[wanted][0]}"
