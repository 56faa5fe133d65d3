"""What is wrong with a graph, each fault beside its field."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.pipelines.graph.order import cycle
from apps.pipelines.graph.steps import Graph, Need, Step, names_of

MOST_STEPS, MOST_PARAMETERS, MOST_ROWS = 50, 50, 100
MOST_RETRIES, LONGEST_PAUSE_S = 10, 24 * 3600
LONGEST_VALUE = 4000
STEP_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?")
PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
PLACE = re.compile(r"\$\{([^${}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`index`: of the step, or of the parameter where `of_parameter`; None: of the whole. `said`: what it is about."""

    code: str
    field: str
    index: int | None = None
    of_parameter: bool = False
    said: str = ""


def faults(graph: Graph) -> list[Fault]:
    """Every one; an empty list for a graph that can be run."""
    found = list(_of_whole(graph))
    names = names_of(graph.steps)
    for index, step in enumerate(graph.steps):
        found += _of_step(graph, index, step, names)
    found += _of_parameters(graph)
    if not found and (way := cycle(graph.steps)):
        found.append(Fault(code="cycle", field="needs", index=names.index(way[0]), said=" → ".join(way)))
    return found


def _of_whole(graph: Graph) -> Iterator[Fault]:
    if not graph.steps:
        yield Fault(code="no_steps", field="steps")
    if len(graph.steps) > MOST_STEPS:
        yield Fault(code="too_many_steps", field="steps", said=str(MOST_STEPS))
    if len(graph.parameters) > MOST_PARAMETERS:
        yield Fault(code="too_many_parameters", field="parameters", said=str(MOST_PARAMETERS))


def _of_step(graph: Graph, index: int, step: Step, names: list[str]) -> Iterator[Fault]:
    def fault(code: str, field: str, said: str = "") -> Fault:
        return Fault(code=code, field=field, index=index, said=said)

    if not STEP_NAME.fullmatch(step.name):
        yield fault("step_name", "name")
    elif step.name in names[:index]:
        yield fault("step_twice", "name", step.name)
    if not step.template:
        yield fault("no_template", "template")
    yield from (fault(code, "needs", said) for code, said in _of_needs(step, names))
    for name in step.inputs:
        if name not in [each.step for each in step.needs]:
            yield fault("input_not_needed", "inputs", name)
    if not 0 <= step.retries <= MOST_RETRIES:
        yield fault("retries", "retries", str(MOST_RETRIES))
    if not 0 <= step.pause_s <= LONGEST_PAUSE_S:
        yield fault("pause", "pause_s", str(LONGEST_PAUSE_S))
    for field, rows in (("arguments", step.arguments), ("environment", step.environment)):
        yield from (fault(code, field, said) for code, said in _of_rows(rows, graph))


def _of_needs(step: Step, names: list[str]) -> Iterator[tuple[str, str]]:
    needed = [each.step for each in step.needs]
    for name in dict.fromkeys(needed):
        if name == step.name:
            yield "needs_itself", name
        elif name not in names:
            yield "unknown_step", name
    for need in step.needs:
        yield from _of_bound(need)
    if len({(each.step, each.when, each.bound) for each in step.needs}) < len(step.needs):
        yield "need_twice", ""


def _of_bound(need: Need) -> Iterator[tuple[str, str]]:
    if need.bound is None:
        return
    if not math.isfinite(need.bound.value):
        yield "bound_value", str(need.bound)
    if not need.bound.metric or len(need.bound.metric) > 250:
        yield "bound_metric", str(need.bound)


def _of_rows(rows: tuple[tuple[str, str], ...], graph: Graph) -> Iterator[tuple[str, str]]:
    if len(rows) > MOST_ROWS:
        yield "too_many_rows", str(MOST_ROWS)
    names = [name for name, _value in rows]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield "row_twice", name
    for _name, value in rows:
        for parameter in PLACE.findall(value):
            if parameter not in graph.parameters:
                yield "unknown_parameter", parameter


def _of_parameters(graph: Graph) -> Iterator[Fault]:
    for index, (name, value) in enumerate(graph.parameters.items()):
        if not PARAMETER_NAME.fullmatch(name):
            yield Fault(code="parameter_name", field="name", index=index, of_parameter=True, said=name)
        if len(value) > LONGEST_VALUE or "\0" in value:
            yield Fault(code="parameter_value", field="value", index=index, of_parameter=True, said=name)
