"""How well past estimates of starts came true: for those who run the platform.

An estimate is kept once for each stay in the queue, when the first one was made, and scored once, when the stay ended
with a start. Of well-made estimates half the starts come before p50, four in ten between p50 and p90, one after.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.workloads.models import StartEstimate

SPAN = timedelta(days=30)
# The newest starts that are scored; more would only be slower.
MOST = 20_000


class Size(StrEnum):
    """What was asked for, in cards."""

    CPU = "cpu"
    SLICE = "slice"
    ONE = "one"
    FEW = "few"  # 2 to 7
    MANY = "many"  # 8 and more


@dataclass(frozen=True, slots=True)
class Score:
    """Shares (0 to 1) of `starts` that came before p50, between p50 and p90, after p90; |start - p50| in seconds."""

    starts: int = 0
    before: float = 0.0
    inside: float = 0.0
    after: float = 0.0
    median_error_s: float | None = None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Starts since `since`, together, by the cause that was named when the estimate was made, and by size."""

    since: datetime
    whole: Score
    by_cause: Mapping[str, Score]
    by_size: Mapping[Size, Score]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One estimate that turned out."""

    cause: str
    size: Size
    start_p50: datetime
    start_p90: datetime
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Stay:
    """When one stay in the queue, that after so many attempts, was said to end."""

    organisation: UUID
    workload: UUID
    after_attempt: int
    cause: str
    start_p50: datetime
    start_p90: datetime


def scorecard(actor: Actor, simulated: bool = False) -> Scorecard:
    """The starts of the last 30 days on real hardware, or on simulated."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    since = db_now() - SPAN
    outcomes = _outcomes(since, simulated)
    causes: defaultdict[str, list[Outcome]] = defaultdict(list)
    sizes: defaultdict[Size, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        causes[outcome.cause].append(outcome)
        sizes[outcome.size].append(outcome)
    return Scorecard(
        since,
        score(outcomes),
        {cause: score(causes[cause]) for cause in sorted(causes)},
        {size: score(sizes[size]) for size in Size if size in sizes},
    )


def score(outcomes: Iterable[Outcome]) -> Score:
    """A start at exactly p50 or p90 counts as inside."""
    found = list(outcomes)
    if not found:
        return Score()
    before = sum(one.started_at < one.start_p50 for one in found)
    after = sum(one.started_at > one.start_p90 for one in found)
    return Score(
        len(found),
        before / len(found),
        (len(found) - before - after) / len(found),
        after / len(found),
        median(abs((one.started_at - one.start_p50).total_seconds()) for one in found),
    )


def _outcomes(since: datetime, simulated: bool) -> list[Outcome]:
    world = Q(workload__spec__simulated=True)
    rows = (
        StartEstimate.objects.filter(world if simulated else ~world, started_at__gte=since)
        .order_by("-started_at")
        .values_list("cause", "workload__spec__gpu", "start_p50", "start_p90", "started_at")[:MOST]
    )
    return [
        Outcome(cause, size_of(gpu), p50, p90, started) for cause, gpu, p50, p90, started in rows if started is not None
    ]


def size_of(gpu: Mapping[str, Any] | None) -> Size:
    """The size of a spec's accelerators, as they stand in its JSON."""
    if gpu is None:
        return Size.CPU
    if gpu["mode"] != "whole":
        return Size.SLICE
    count = int(gpu["count"])
    if count == 1:
        return Size.ONE
    return Size.FEW if count < 8 else Size.MANY


def record_estimates(stays: Iterable[Stay]) -> None:
    """Keep the first estimate of each stay in the queue; a later one of the same stay is not written."""
    StartEstimate.objects.bulk_create(
        [
            StartEstimate(
                organisation_id=stay.organisation,
                workload_id=stay.workload,
                after_attempt=stay.after_attempt,
                cause=stay.cause,
                start_p50=stay.start_p50,
                start_p90=max(stay.start_p50, stay.start_p90),
            )
            for stay in stays
        ],
        ignore_conflicts=True,
    )


def score_estimates(workloads: Iterable[UUID], at: datetime) -> None:
    """These have started: what was estimated of the stay that ended is scored from now on."""
    StartEstimate.objects.filter(workload__in=list(workloads), started_at__isnull=True).update(started_at=at)
