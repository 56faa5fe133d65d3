"""By what a step is found again: an input that changes changes its key and all after it, and no other does."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.builds.cache.keys import Copied, end_of, keys_of
from apps.builds.plan import Step, make

BASE = f"sha256:{'a' * 64}"
FILES = {"one": Copied("1" * 64, False), "two": Copied("2" * 64, True)}
COMMANDS = st.sampled_from(["true", "echo 1", "echo $A", "rm -rf /x"])
LINES = st.one_of(
    COMMANDS.map(lambda command: f"RUN {command}"),
    st.sampled_from(["COPY one /one", "COPY one two /both/", "COPY --chmod=0700 two /two", "WORKDIR /srv"]),
    st.sampled_from(["ENV A=1", "ENV B=$A", "ARG A=2", 'SHELL ["/bin/sh", "-ec"]']),
)
BODIES = st.lists(LINES, min_size=1, max_size=6).map(lambda lines: ["RUN first", *lines])
CHANGES: list[dict[str, Any]] = [
    {"do": "other"},
    {"argv": ("other",)},
    {"env": {"OTHER": "1"}},
    {"workdir": "/other"},
    {"target": "/other"},
    {"mode": 0o701},
    {"files": (("one", "/other"),)},
]


def plan(body: list[str]) -> list[Step]:
    return make("\n".join(["FROM box", *body]), list(FILES)).steps


def keys(body: list[str], base: str = BASE) -> list[str]:
    return keys_of(base, plan(body), FILES)


@given(BODIES)
def test_the_same_steps_have_the_same_keys_and_each_its_own(body: list[str]) -> None:
    assert keys(body) == keys(body)
    assert len(set(keys(body))) == len(plan(body))


@given(BODIES, st.data())
def test_what_changes_a_step_changes_its_key_and_all_after_it_and_none_before(body: list[str], data: Any) -> None:
    steps = plan(body)
    place = data.draw(st.integers(0, len(steps) - 1))
    change = data.draw(st.sampled_from(CHANGES))
    changed = replace(steps[place], **change)
    before = keys_of(BASE, steps, FILES)
    after = keys_of(BASE, [*steps[:place], changed, *steps[place + 1 :]], FILES)
    assert after[:place] == before[:place]
    assert not set(after[place:]) & set(before)


@given(BODIES, st.sampled_from([Copied("3" * 64, False), Copied("1" * 64, True)]))
def test_what_a_copied_file_holds_counts_from_where_it_is_copied(body: list[str], other: Copied) -> None:
    steps = plan(body)
    first = next((place for place, step in enumerate(steps) if "one" in dict(step.files)), len(steps))
    before, after = keys_of(BASE, steps, FILES), keys_of(BASE, steps, {**FILES, "one": other})
    assert after[:first] == before[:first]
    assert not set(after[first:]) & set(before)


@given(BODIES)
def test_another_base_has_other_keys(body: list[str]) -> None:
    assert not set(keys(body)) & set(keys(body, f"sha256:{'b' * 64}"))


def test_lines_comments_and_what_only_describes_the_image_do_not_count() -> None:
    written = ["# why", "", "LABEL a=b", "RUN one", "EXPOSE 80", "CMD x", "RUN two"]
    assert keys(["RUN one", "RUN two"]) == keys(written)


def test_an_argument_counts_where_it_is_known() -> None:
    one, other = keys(["RUN a", "ARG A=1", "RUN b"]), keys(["RUN a", "ARG A=2", "RUN b"])
    assert one[0] == other[0]
    assert one[1] != other[1]


def test_nothing_is_cached_from_the_first_address_on() -> None:
    found = keys(["RUN a", "ADD https://example.org/x /x", "RUN b"])
    assert [bool(key) for key in found] == [True, False, False]


def taking(build: str, paths: str = "/x") -> list[list[str]]:
    """Keys of a stage and of one that takes files of it."""
    text = f"FROM one AS build\nRUN {build}\nFROM two\nRUN a\nCOPY --from=build {paths} /y\nRUN b\n"
    last = make(text, ())
    first = keys_of(BASE, last.before[0].steps, {})
    return [first, keys_of(BASE, last.steps, {}, [end_of(BASE, first)])]


@given(COMMANDS, COMMANDS)
def test_what_a_stage_is_made_of_counts_from_where_its_files_are_taken(one: str, other: str) -> None:
    before, after = taking(one)[1], taking(other)[1]
    assert before[0] == after[0]
    assert (before[1:] == after[1:]) == (one == other)
    assert bool(set(before[1:]) & set(after[1:])) == (one == other)


def test_which_files_are_taken_counts() -> None:
    assert taking("true")[1][1:] != taking("true", "/z")[1][1:]
    assert taking("true")[0] == taking("true", "/z")[0]


def test_what_is_taken_of_an_image_without_steps_counts_by_the_image() -> None:
    last = make("FROM two\nCOPY --from=hub.lab/one /x /y\n", ())
    ends = [[end_of(base, ())] for base in (BASE, f"sha256:{'b' * 64}")]
    assert keys_of(BASE, last.steps, {}, ends[0]) != keys_of(BASE, last.steps, {}, ends[1])


def test_what_is_taken_of_a_stage_that_fetches_an_address_is_not_cached() -> None:
    last = make("FROM one AS a\nADD https://example.org/x /x\nFROM two\nRUN a\nCOPY --from=a /x /x\nRUN b\n", ())
    first = keys_of(BASE, last.before[0].steps, {})
    found = keys_of(BASE, last.steps, {}, [end_of(BASE, first)])
    assert [bool(key) for key in found] == [True, False, False]
