"""The pure rules of graphs: order, faults, what follows from outcomes, and how it is written down."""

import math
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipelines.graph.deciding import Verdict, decide, result
from apps.pipelines.graph.drawing import HEIGHT, WIDTH, draw
from apps.pipelines.graph.faults import faults
from apps.pipelines.graph.order import cycle, followers, levels, ordered
from apps.pipelines.graph.steps import Bound, Comparison, Graph, Need, Outcome, Step, When
from apps.pipelines.graph.text import (
    Unreadable,
    read_needs,
    read_rows,
    read_variables,
    write_needs,
    write_rows,
    write_variables,
)

bounds = st.builds(
    Bound,
    metric=st.sampled_from(["accuracy", "val/loss", "f1 macro"]),
    comparison=st.sampled_from(Comparison),
    value=st.floats(allow_nan=False, allow_infinity=False),
)


def needs(step: str) -> st.SearchStrategy[Need]:
    plain = st.builds(Need, step=st.just(step), when=st.sampled_from([When.SUCCEEDED, When.FAILED, When.ENDED]))
    return plain | st.builds(Need, step=st.just(step), when=st.just(When.METRIC), bound=bounds)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Without faults: each step needs some of those before it, and they stand in any order."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 7))):
        before = draw(st.lists(st.sampled_from(steps), unique=True, max_size=3)) if steps else []
        needed = tuple(draw(needs(each.name)) for each in before)
        steps.append(Step(name=f"s{number}", template="t", needs=needed, may_fail=draw(st.booleans())))
    return Graph(steps=tuple(draw(st.permutations(steps))))


@given(graph=graphs())
def test_each_step_stands_after_all_that_it_needs(graph: Graph) -> None:
    names = [each.name for each in ordered(graph)]
    assert sorted(names) == sorted(each.name for each in graph.steps)
    for each in graph.steps:
        assert all(names.index(need.step) < names.index(each.name) for need in each.needs)
        assert all(each.name in followers(graph, need.step) for need in each.needs)
        assert each.name not in followers(graph, each.name)
    assert faults(graph) == []
    assert cycle(graph.steps) == []


@given(graph=graphs(), data=st.data())
def test_however_steps_end_each_gets_one_outcome_and_none_starts_before_what_it_needs(
    graph: Graph, data: st.DataObject
) -> None:
    outcomes: dict[str, Outcome] = {}
    running: set[str] = set()
    said = data.draw(st.dictionaries(st.sampled_from([each.name for each in graph.steps]), st.floats()))
    while len(outcomes) < len(graph.steps):
        for step in ordered(graph):
            if step.name in outcomes or step.name in running:
                continue
            decision = decide(step, outcomes, lambda name, _metric: said.get(name))
            if decision.verdict is Verdict.START:
                assert all(need.step in outcomes for need in step.needs)
                running.add(step.name)
            elif decision.verdict is not Verdict.WAIT:
                skipped = decision.verdict is Verdict.SKIP
                outcomes[step.name] = Outcome.SKIPPED if skipped else Outcome.FAILED
        assert running or len(outcomes) == len(graph.steps), "it waits for ever"
        if running:
            ended = data.draw(st.sampled_from(sorted(running)))
            running.remove(ended)
            outcomes[ended] = data.draw(st.sampled_from([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.STOPPED]))
    whole = result(graph, outcomes)
    hard = [each.name for each in graph.steps if outcomes[each.name] is Outcome.FAILED and not each.may_fail]
    assert (whole is Outcome.FAILED) == bool(hard)


@given(graph=graphs())
def test_what_is_written_is_read_again(graph: Graph) -> None:
    assert Graph.from_json(graph.as_json()) == graph
    for each in graph.steps:
        assert read_needs(write_needs(each.needs)) == each.needs


words = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12)


@given(
    rows=st.lists(st.tuples(st.from_regex(r"--?[a-z][a-z.-]{0,8}|[a-z][a-z.]{0,8}=", fullmatch=True), words)),
    variables=st.lists(st.tuples(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), words)),
)
def test_rows_are_written_as_on_a_command_line(rows: list[tuple[str, str]], variables: list[tuple[str, str]]) -> None:
    assert read_rows(write_rows(rows)) == tuple(rows)
    assert read_variables(write_variables(variables)) == tuple(variables)


@given(graph=graphs())
def test_no_two_boxes_of_a_drawing_overlap(graph: Graph) -> None:
    drawing = draw(graph)
    for one, other in permutations(drawing.boxes, 2):
        assert abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT
    assert all(0 <= box.x <= drawing.width - WIDTH and box.y <= drawing.height - HEIGHT for box in drawing.boxes)
    column = levels(graph.steps)
    by_name = {box.name: box for box in drawing.boxes}
    assert all(by_name[a].x < by_name[b].x for a in column for b in column if column[a] < column[b])


def codes(*steps: Step, **parameters: str) -> list[tuple[str, int | None, str]]:
    found = faults(Graph(steps=steps, parameters=parameters))
    return [(each.code, each.index, each.field) for each in found]


def step(name: str, text: str = "", **changes: object) -> Step:
    return Step(name=name, template="t", needs=read_needs(text), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("steps", "code", "index", "field"),
    [
        ((), "no_steps", None, "steps"),
        ([step(f"s{number}") for number in range(51)], "too_many_steps", None, "steps"),
        ((step("A b"),), "step_name", 0, "name"),
        ((step("a"), step("a")), "step_twice", 1, "name"),
        ((step("a", "a"),), "needs_itself", 0, "needs"),
        ((step("a", "b"),), "unknown_step", 0, "needs"),
        ((step("a"), step("b", "a, a")), "need_twice", 1, "needs"),
        ((step("a"), step("b", "a: loss < inf")), "bound_value", 1, "needs"),
        ((step("a"), step("b", inputs=("a",))), "input_not_needed", 1, "inputs"),
        ((step("a", retries=11),), "retries", 0, "retries"),
        ((step("a", pause_s=-1),), "pause", 0, "pause_s"),
        ((step("a", arguments=(("--x", "${no}"),)),), "unknown_parameter", 0, "arguments"),
        ((step("a", environment=(("X", "1"), ("X", "2"))),), "row_twice", 0, "environment"),
        ((step("a"), step("b", "c"), step("c", "b")), "cycle", 1, "needs"),
    ],
)
def test_each_fault_stands_beside_its_field(steps: tuple[Step, ...], code: str, index: int | None, field: str) -> None:
    assert codes(*steps) == [(code, index, field)]


def test_a_cycle_is_named_in_its_direction() -> None:
    (found,) = faults(Graph(steps=(step("a", "c"), step("b", "a"), step("c", "b"), step("d", "c"))))
    way = found.said.split(" → ")
    assert way[0] == way[-1]
    assert set(pairwise(way)) == {("a", "b"), ("b", "c"), ("c", "a")}


@pytest.mark.parametrize("text", ["a: accuracy", "a: accuracy > x", "a: > 3"])
def test_a_condition_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        read_needs(text)


def test_nan_is_within_no_bound() -> None:
    assert not any(Bound(metric="m", comparison=each, value=1.0).holds(math.nan) for each in Comparison)
