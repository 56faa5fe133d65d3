"""Which trial ran when, and on which card."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.automl.choices import COUNTED_AS_FAILED, TrialStatus
from apps.automl.models import Trial
from apps.common.clock import db_now
from apps.common.formatting import moment
from apps.workloads.models import Placement

STEPS = [timedelta(minutes=each) for each in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200)]
MOST_TICKS = 8
EDGE_PCT = 95.0
"""What is written further to the right would not fit."""
MOST_LANES = 60


@dataclass(frozen=True, slots=True)
class Bar:
    """A try of a trial on a piece of a machine. `left` and `width` in per cent; `is_last`: no later try followed."""

    trial: Trial
    start: datetime
    end: datetime
    is_last: bool
    left: float
    width: float

    @property
    def tone(self) -> str:
        if not self.is_last:
            return "is-warn"
        if self.trial.status == TrialStatus.RUNNING:
            return "is-run"
        if self.trial.status in COUNTED_AS_FAILED:
            return "is-fail"
        return "is-stop rsv" if self.trial.status == TrialStatus.PRUNED else "is-stop"

    @property
    def outcome(self) -> str:
        return str(self.trial.get_status_display()) if self.is_last else _("began anew elsewhere")


@dataclass(frozen=True, slots=True)
class Lane:
    """A card, a slice of one, or a machine where no card was given; several of it where trials ran side by side."""

    node: str
    part: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    lanes: tuple[Lane, ...]
    left_out: int
    ticks: tuple[dict[str, Any], ...]
    step_pct: float

    @property
    def first_pct(self) -> float:
        return float(self.ticks[0]["left"]) % self.step_pct if self.ticks else 0.0


@dataclass(frozen=True, slots=True)
class _Stay:
    trial: Trial
    start: datetime
    end: datetime
    is_last: bool


def timeline(trials: Sequence[Trial]) -> Timeline | None:
    """From the first start until now, or until the last end; None before any trial has started."""
    stays = _stays(trials, db_now())
    if not stays:
        return None
    every = [each for found in stays.values() for each in found]
    start, end = min(each.start for each in every), max(each.end for each in every)
    length = max(end - start, timedelta(seconds=1))
    lanes = [
        Lane(node, part, tuple(_bar(each, start, length) for each in row))
        for (node, _card, _slice, part), found in sorted(stays.items(), key=lambda pair: pair[0][:3])
        for row in _side_by_side(found)
    ]
    step = next((each for each in STEPS if length / each <= MOST_TICKS), STEPS[-1])
    return Timeline(
        lanes=tuple(lanes[:MOST_LANES]),
        left_out=max(0, len(lanes) - MOST_LANES),
        ticks=tuple(_ticks(start, length, step)),
        step_pct=100 * step / length,
    )


def _stays(trials: Sequence[Trial], now: datetime) -> dict[tuple[str, int, int, str], list[_Stay]]:
    """By node, card, slice and what these are called."""
    by_workload: dict[UUID, Trial] = {each.run.workload_id: each for each in trials if each.run is not None}
    rows = Placement.objects.filter(attempt__workload__in=by_workload, attempt__started_at__isnull=False)
    pieces = rows.order_by("attempt__started_at", "pk").select_related("attempt", "node", "accelerator")
    placed = list(pieces)
    on_cards = {each.attempt_id for each in placed if each.accelerator is not None}
    last = {each.attempt.workload_id: each.attempt_id for each in placed}
    found: defaultdict[tuple[str, int, int, str], dict[UUID, _Stay]] = defaultdict(dict)
    for each in placed:
        attempt, start = each.attempt, each.attempt.started_at
        if start is None or (each.accelerator is None and each.attempt_id in on_cards):
            continue
        end = max(start, attempt.ended_at or now)
        stay = _Stay(by_workload[attempt.workload_id], start, end, last[attempt.workload_id] == attempt.pk)
        found[_place(each)].setdefault(attempt.pk, stay)
    return {place: list(stays.values()) for place, stays in found.items()}


def _place(piece: Placement) -> tuple[str, int, int, str]:
    if piece.accelerator is None:
        return piece.node.name, -1, -1, ""
    card = piece.accelerator.index
    words = _("card %(number)s") % {"number": card}
    if piece.mig_start is None:
        return piece.node.name, card, -1, words
    return piece.node.name, card, piece.mig_start, f"{words} · {piece.mig_profile} {piece.mig_start}"


def _side_by_side(stays: Sequence[_Stay]) -> list[list[_Stay]]:
    """In as few rows as there is no overlap in any of them."""
    rows: list[list[_Stay]] = []
    for stay in sorted(stays, key=lambda each: each.start):
        row = next((each for each in rows if each[-1].end <= stay.start), None)
        if row is None:
            rows.append([stay])
        else:
            row.append(stay)
    return rows


def _bar(stay: _Stay, start: datetime, length: timedelta) -> Bar:
    left = 100 * (stay.start - start) / length
    return Bar(stay.trial, stay.start, stay.end, stay.is_last, left, 100 * (stay.end - stay.start) / length)


def _ticks(start: datetime, length: timedelta, step: timedelta) -> Iterable[dict[str, Any]]:
    """Round times of the platform's clock."""
    here = timezone.localtime(start)
    day = here.replace(hour=0, minute=0, second=0, microsecond=0)
    at = day + step * -(-(here - day) // step)
    while at <= start + length:
        left = 100 * (at - start) / length
        if left < EDGE_PCT:
            yield {"label": moment(at), "left": left}
        at += step
