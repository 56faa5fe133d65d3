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
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from= /x /x", "Line 4: --from names a stage or an image"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=$A /x /x", "Line 4: --from names a stage or an image"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=2 /x /x", "Line 4: there is no stage 2"),
        ("FROM x AS a\nCOPY --from=A /x /x\nFROM y\nRUN x", "Line 2: a stage cannot take files of itself"),
        ("FROM x\nCOPY --from=b /x /x\nFROM y AS b\nRUN x", "Line 2: the stage b comes only after this one"),
        ("FROM x\nCOPY --from=1 /x /x\nFROM y AS b\nRUN x", "Line 2: the stage 1 comes only after this one"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=a ../../etc /x", "Line 4: ../../etc leads out of the stage"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=a /../etc /x", "Line 4: /../etc leads out of the stage"),
        ("FROM x AS a\nRUN x\nFROM y\nCOPY --from=a /x", "Line 4: name what is copied"),
        ("FROM x AS a\nRUN x\nFROM y\nADD --from=a /x /y", "Line 4: --from is for COPY alone"),
        (
            "FROM x\n" + "".join(f"COPY --from=hub.lab/i{n} /x /x\n" for n in range(11)),
            "Line 12: an image is made of 10 stages",
        ),
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


TAKING = """FROM golang AS build
WORKDIR /src
RUN make
FROM alpine AS unused
RUN never
FROM build AS more
RUN docs
FROM debian
ARG WHERE=/usr
COPY --from=build --chmod=0755 /src/tool src/*.so $WHERE/bin/
COPY --from=2 /docs /docs
COPY --from=hub.lab/certs:1 etc/ssl /etc/ssl
RUN tool
"""


def test_what_is_taken_of_is_carried_out_before_and_what_nothing_takes_of_is_not() -> None:
    plan = make(TAKING, ())
    assert [(part.name, part.base, part.base_line) for part in plan.parts] == [
        ("build", "golang", 1), ("more", "golang", 1), ("hub.lab/certs:1", "hub.lab/certs:1", 12), ("3", "debian", 8)
    ]  # fmt: skip
    assert [step.text for step in plan.all_steps if step.do == "run"] == [
        "RUN make", "RUN make", "RUN docs", "RUN tool"
    ]  # fmt: skip
    first, docs, certs, _tool = plan.steps
    assert (first.do, first.part, first.export, first.mode) == ("take", 0, 0, 0o755)
    assert (first.paths, first.target) == (("/src/tool", "/src/*.so"), "/usr/bin/")
    assert (docs.part, docs.paths, docs.target) == (1, ("/docs",), "/docs")
    assert (certs.part, certs.paths) == (2, ("/etc/ssl",))
    assert [part.exports for part in plan.parts] == [
        [(10, ("/src/tool", "/src/*.so"))], [(11, ("/docs",))], [(12, ("/etc/ssl",))], []
    ]  # fmt: skip


def test_a_stage_may_be_taken_of_several_times_and_by_who_begins_on_it() -> None:
    text = "FROM a AS x\nRUN x\nFROM x AS y\nCOPY --from=x /1 /2\nFROM y\nCOPY --from=x /3 /4\nCOPY --from=y /5 /6\n"
    plan = make(text, ())
    assert [part.name for part in plan.parts] == ["x", "y", "2"]
    assert [part.exports for part in plan.parts] == [
        [(4, ("/1",)), (4, ("/1",)), (6, ("/3",))], [(7, ("/5",))], []
    ]  # fmt: skip
    assert [step.part for step in plan.steps if step.do == "take"] == [0, 0, 1]


def test_a_mistake_in_a_stage_that_is_left_out_is_said_as_well() -> None:
    with pytest.raises(Invalid, match="Line 2: there is no stage 7"):
        make("FROM a\nCOPY --from=7 /x /x\nFROM b\nRUN x", ())


@given(st.lists(st.lists(st.integers(0, 4), max_size=3), min_size=1, max_size=5), st.data())
def test_parts_come_after_those_they_take_of_and_each_is_needed(takes: list[list[int]], data: st.DataObject) -> None:
    lines = []
    for number, sources in enumerate(takes):
        lines += [f"FROM image{number} AS s{number}", "RUN x"]
        lines += [f"COPY --from=s{source} /x /x" for source in sources if source < number]
    wanted = data.draw(st.integers(0, len(takes) - 1))
    plan = make("\n".join(lines), (), f"s{wanted}")
    needed, waiting = set[int](), [wanted]
    while waiting:
        if (number := waiting.pop()) not in needed:
            needed.add(number)
            waiting += [source for source in takes[number] if source < number]
    assert sorted(part.name for part in plan.parts) == sorted(f"s{number}" for number in needed)
    assert plan.name == f"s{wanted}"
    for place, part in enumerate(plan.parts):
        assert all(step.part < place for step in part.steps if step.part is not None)
