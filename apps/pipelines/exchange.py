"""Pipelines as YAML files, in and out. The format stands in `docs/pipelines.md`."""

from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.automl.search.exchange.fields import BadFile, Fault, Fields, as_text, load
from apps.common.errors import Invalid
from apps.common.text import clean_name
from apps.pipelines.choices import LONGEST_NAME
from apps.pipelines.graph.steps import Graph, Need, Step
from apps.pipelines.graph.text import Unreadable, condition_text, need_on, read_need
from apps.pipelines.models import Pipeline, PipelineVersion

VERSION, KIND = "plstack/v1", "Pipeline"
MOST_FAULTS = 10
_FAULTS = {
    "too_large": gettext_lazy("The file is too large."),
    "not_yaml": gettext_lazy("This is no YAML."),
    "not_a_pipeline": gettext_lazy("This is no pipeline of this platform (plstack/v1)."),
    "missing": gettext_lazy("%(path)s is missing."),
    "wrong_type": gettext_lazy("%(path)s is not of the right kind: %(said)s."),
    "unreadable": gettext_lazy("%(path)s cannot be read: %(said)s."),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What the form begins with. `ignored`: fields of the file that mean nothing here."""

    initial: dict[str, Any]
    graph: Graph
    ignored: tuple[str, ...]


def write(pipeline: Pipeline, version: PipelineVersion) -> str:
    graph = Graph.from_json(version.graph)
    said = {
        "apiVersion": VERSION,
        "kind": KIND,
        "name": pipeline.name,
        **({"note": pipeline.note} if pipeline.note else {}),
        **({"parameters": dict(graph.parameters)} if graph.parameters else {}),
        "steps": [_written(each) for each in graph.steps],
    }
    text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=120)
    return text


def _written(step: Step) -> dict[str, Any]:
    needs = [{need.step: condition_text(need)} if condition_text(need) else need.step for need in step.needs]
    rest = {
        "needs": needs,
        "inputs": list(step.inputs),
        "arguments": [{name: value} for name, value in step.arguments],
        "environment": dict(step.environment),
        "retries": step.retries,
        "pauseSeconds": step.pause_s,
        "mayFail": step.may_fail,
    }
    return {"name": step.name, "run": step.template, **{name: value for name, value in rest.items() if value}}


def read(content: bytes) -> Imported:
    """Raises `Invalid` beside `file`, with every fault that the file has."""
    try:
        return _read(load(content.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise Invalid.field("file", _("The file is not UTF-8 text.")) from error
    except BadFile as error:
        words = [str(_FAULTS[each.code]) % {"path": each.path, "said": each.said} for each in error.faults]
        raise Invalid.field("file", " ".join(words[:MOST_FAULTS])) from error


def _read(tree: Any) -> Imported:
    faults: list[Fault] = []
    ignored: list[str] = []
    top = Fields(tree, "", faults, ignored)
    if top.text("apiVersion") != VERSION or top.text("kind") != KIND:
        raise BadFile([Fault(path="", code="not_a_pipeline")])
    initial = {"name": clean_name(top.text("name"))[:LONGEST_NAME], "note": top.text("note")[:200]}
    parameters = {str(name): as_text(value) for name, value in top.below("parameters").rest().items()}
    steps = tuple(_step(each) for each in top.each("steps"))
    top.end()
    if faults:
        raise BadFile(faults)
    return Imported(initial, Graph(steps=steps, parameters=parameters), tuple(ignored))


def _step(fields: Fields) -> Step:
    found = Step(
        name=fields.text("name", needed=True),
        template=fields.text("run", needed=True),
        needs=tuple(_need(fields, each) for each in _listed(fields, "needs")),
        inputs=fields.texts("inputs"),
        arguments=tuple(_pair(fields, each) for each in _listed(fields, "arguments")),
        environment=tuple((str(name), as_text(value)) for name, value in fields.below("environment").rest().items()),
        retries=fields.whole("retries") or 0,
        pause_s=fields.whole("pauseSeconds") or 0,
        may_fail=fields.text("mayFail") == "true",
    )
    fields.end()
    return found


def _listed(fields: Fields, name: str) -> list[Any]:
    """Words and mappings of one pair, as they stand there."""
    said = fields.take(name)
    if said is not None and not isinstance(said, list):
        fields.fault(name, "wrong_type", said)
    return said if isinstance(said, list) else []


def _need(fields: Fields, said: Any) -> Need:
    """`evaluate`, `"evaluate: failed"`, or as YAML reads the latter without its quotes."""
    try:
        if isinstance(said, dict) and len(said) == 1:
            ((step, condition),) = said.items()
            return need_on(str(step), as_text(condition))
        if isinstance(said, str):
            return read_need(said)
        raise Unreadable(str(said))
    except Unreadable as error:
        fields.fault("needs", "unreadable", error.said)
        return Need(step="")


def _pair(fields: Fields, said: Any) -> tuple[str, str]:
    """`{--epochs: 20}`, or `--fast` alone."""
    if isinstance(said, dict) and len(said) == 1:
        ((name, value),) = said.items()
        return str(name), as_text(value)
    if not isinstance(said, str):
        fields.fault("arguments", "unreadable", said)
        return "", ""
    return said, ""
