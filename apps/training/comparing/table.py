"""Runs side by side: their metrics, what they were started with, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.billing import selectors as funds
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.formatting import duration
from apps.common.money import whole_fen, yuan
from apps.common.permissions import Permission
from apps.storage.digests import digest_of
from apps.tracking import selectors as tracking
from apps.tracking.collecting.reading.names import is_result
from apps.tracking.models import Series
from apps.training.models import Run
from apps.workloads.models import Workload
from apps.workloads.templatetags.workloads import ran_seconds

MOST_METRICS = 200
_SMALLER_IS_BETTER = ("loss", "error", "err", "rmse", "mae", "mse", "perplexity", "ppl", "wer", "cer", "nll", "fid")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a cell for each run; `differs`: they are not all alike."""

    label: str
    cells: tuple[str, ...]
    differs: bool
    best: int | None = None


class Part(StrEnum):
    """What a section of the table is about."""

    METRICS = "metrics"
    PARAMETERS = "parameters"
    SETTINGS = "settings"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Section:
    part: Part
    title: str
    rows: tuple[Row, ...]

    @property
    def differs(self) -> bool:
        return any(row.differs for row in self.rows)


def costs_of(actor: Actor, chosen: Sequence[Run]) -> dict[UUID, Decimal]:
    """Fen by the run's id; nothing where the actor may not see costs."""
    if not actor.may(Permission.BILLING_VIEW_OWN):
        return {}
    return {run.pk: funds.workload_cost(actor, workload_id=run.workload_id).exact_fen for run in chosen}


def sections(actor: Actor, chosen: Sequence[Run], costs: Mapping[UUID, Decimal]) -> list[Section]:
    found = [
        Section(Part.METRICS, _("Metrics"), tuple(_metrics(chosen))),
        Section(Part.PARAMETERS, _("Parameters"), tuple(_texts(parameters_of(actor, chosen)))),
        Section(Part.SETTINGS, _("Settings"), tuple(_texts(_settings(chosen)))),
        Section(Part.COST, _("Cost and time"), tuple(_texts([_spent_by(run, costs) for run in chosen]))),
    ]
    return [each for each in found if each.rows]


def _metrics(chosen: Sequence[Run]) -> list[Row]:
    """Last and best of each; `best` marks the run that has it."""
    wanted = [run.workload_id for run in chosen]
    by_name: dict[str, dict[UUID, Series]] = {}
    for series in Series.objects.filter(run_id__in=wanted, last_value__isnull=False).order_by("name"):
        by_name.setdefault(series.name, {})[series.run_id] = series
    rows: list[Row] = []
    for name, known in list(by_name.items())[:MOST_METRICS]:
        smaller = smaller_is_better(name)
        bests = {pk: each.min_value if smaller else each.max_value for pk, each in known.items()}
        last = tuple(_shown(known[pk].last_value) if pk in known else "—" for pk in wanted)
        best = tuple(_shown(bests.get(pk)) for pk in wanted)
        finite = {pk: value for pk, value in bests.items() if value is not None}
        is_judged = len(finite) > 1 and is_result(name)
        leader = (min if smaller else max)(finite, key=lambda pk: finite[pk]) if is_judged else None
        rows.append(Row(name, last, len(set(last)) > 1))
        label = _("lowest") if smaller else _("highest")
        rows.append(Row(f"{name} · {label}", best, len(set(best)) > 1, wanted.index(leader) if leader else None))
    return rows


def smaller_is_better(name: str) -> bool:
    return name.lower().endswith(_SMALLER_IS_BETTER)


def _shown(value: float | None) -> str:
    return "—" if value is None else f"{value:.6g}"


def _texts(columns: Sequence[Mapping[str, str]]) -> list[Row]:
    labels = list(dict.fromkeys(label for column in columns for label in column))
    cells = ((label, tuple(column.get(label, "—") for column in columns)) for label in labels)
    return [Row(label, found, len(set(found)) > 1) for label, found in cells]


def parameters_of(actor: Actor, chosen: Sequence[Run]) -> list[dict[str, str]]:
    """What programs logged, and the arguments that they were started with."""
    logged = tracking.parameters(actor, [run.workload_id for run in chosen])
    return [
        {
            **{name or _("(without a name)"): value or "✓" for name, value in run.arguments},
            **logged.get(run.workload_id, {}),
        }
        for run in chosen
    ]


def _settings(chosen: Sequence[Run]) -> list[dict[str, str]]:
    return [_settings_of(run) for run in chosen]


def _settings_of(run: Run) -> dict[str, str]:
    digest, workload = digest_of(run.code), run.workload
    return {
        _("Image"): run.image.name,
        _("Package"): workload.package.name(get_language() or ""),
        _("Entry"): run.script,
        _("Code"): digest.sha256[:12] if digest and digest.sha256 else str(run.code_id)[:8],
        _("Members"): str(workload.member_count),
        _("Launcher"): run.get_launcher_display(),
        _("Owner"): run.owner.display_name,
        **{f"${name}": value for name, value in run.environment},
    }


def _spent_by(run: Run, costs: Mapping[UUID, Decimal]) -> dict[str, str]:
    workload = run.workload
    seconds = running_seconds(workload)
    cards = workload.frozen_spec.gpu_milli * workload.member_count / 1000
    found: dict[str, Any] = {_("Ran for"): duration(seconds) if seconds else "—"}
    if cards:
        found[_("GPU hours")] = f"{seconds / 3600 * cards:.2f}"
    if run.pk in costs:
        found[_("Cost")] = yuan(whole_fen(costs[run.pk]))
    return found


def running_seconds(workload: Workload) -> float:
    if workload.started_at is None:
        return 0.0
    if workload.ended_at is None:
        return (db_now() - workload.started_at).total_seconds()
    return ran_seconds(workload) or 0.0
