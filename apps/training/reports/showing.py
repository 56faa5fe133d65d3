"""A report as its reader sees it: with the curves and values of now, of the runs that they may see."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.tracking import selectors as tracking
from apps.tracking.selectors import Axis
from apps.training.comparing.table import Section, costs_of, sections
from apps.training.models import Run
from apps.training.reports import drawing
from apps.training.reports.blocks import Chart, Parsed, Prose, Table

NOTHING = SafeString("")
POINTS = 300
"""Of one curve: more cannot be told apart in print."""


@dataclass(frozen=True, slots=True)
class Key:
    """How the line of a run is drawn, in the order of the report's runs."""

    run: Run
    line: SafeString


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of one metric; `svg` is empty where no run has said it."""

    metric: str
    svg: SafeString


@dataclass(frozen=True, slots=True)
class Shown:
    """One block: exactly one of `html`, `figures` and `section` is there; a section without rows says so."""

    html: SafeString = NOTHING
    figures: tuple[Figure, ...] = ()
    axis: str = ""
    section: Section | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    blocks: tuple[Shown, ...]
    keys: tuple[Key, ...]


def shown(actor: Actor, parsed: Parsed, runs: Sequence[Run]) -> Report:
    tables = {each.part: each for each in _sections(actor, parsed, runs)}
    blocks = []
    for block in parsed.blocks:
        match block:
            case Prose():
                blocks.append(Shown(html=block.html))
            case Chart():
                blocks.append(_chart(actor, block, runs))
            case Table():
                found = tables.get(block.part)
                blocks.append(Shown(section=found, is_empty=found is None))
    return Report(tuple(blocks), tuple(Key(run, drawing.key(place)) for place, run in enumerate(runs)))


def _sections(actor: Actor, parsed: Parsed, runs: Sequence[Run]) -> list[Section]:
    if not runs or not any(isinstance(each, Table) for each in parsed.blocks):
        return []
    return sections(actor, runs, costs_of(actor, runs))


def _chart(actor: Actor, chart: Chart, runs: Sequence[Run]) -> Shown:
    place = {run.workload_id: at for at, run in enumerate(runs)}
    curves = tracking.chart(actor, list(place), list(chart.metrics), axis=chart.axis, points=POINTS) if place else []
    figures = []
    for metric in chart.metrics:
        lines = [drawing.Line(f"{run.name} v{run.version}", ()) for run in runs]
        for curve in curves:
            if curve.name != metric:
                continue
            at = place[curve.workload_id]
            start = curve.buckets[0].x if curve.buckets and chart.axis is Axis.TIME else 0.0
            points = tuple((each.x - start, each.last) for each in curve.buckets)
            lines[at] = drawing.Line(lines[at].text, points)
        figures.append(Figure(metric, drawing.svg(lines, metric, is_log=chart.log)))
    return Shown(
        figures=tuple(figures), axis=_("step") if chart.axis is Axis.STEP else _("seconds since its first value")
    )
