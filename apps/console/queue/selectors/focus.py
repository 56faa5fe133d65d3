"""What of the queue one looks at: the real machines or the simulated ones, all cards or those of one model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

import scheduler
from apps.clusters.models import Accelerator, Zone
from apps.common.clock import db_now
from apps.workloads.choices import Status
from apps.workloads.models import SchedulerEpoch, Workload
from apps.workloads.simulation_scope import of_world

# What was read is read again after this many seconds even where no pass has run.
KEPT_S = 10


@dataclass(frozen=True, slots=True)
class Focus:
    """`model` empty: all cards, and work that asks for none."""

    simulated: bool = False
    model: str = ""


def waiting(focus: Focus) -> QuerySet[Workload]:
    """Queued workloads of the world; with a model, those that name it."""
    rows: QuerySet[Workload] = Workload.objects.filter(of_world(focus.simulated), status=Status.QUEUED)
    if focus.model:
        rows = rows.filter(Q(spec__gpu__model=focus.model) | Q(spec__gpu__any_of__contains=[focus.model]))
    return rows


def cards(focus: Focus) -> QuerySet[Accelerator]:
    rows: QuerySet[Accelerator] = Accelerator.objects.filter(node__cluster__zone__simulated=focus.simulated)
    return rows.filter(model=focus.model) if focus.model else rows


def models(*, simulated: bool) -> list[str]:
    """Names of the card models of one world."""
    rows = cards(Focus(simulated)).order_by("model").values_list("model", flat=True)
    return list(rows.distinct())


def has_simulated() -> bool:
    return Zone.objects.filter(simulated=True).exists()


def request_of(gpu: Mapping[str, Any] | None) -> scheduler.GpuRequest | None:
    """The cards that a spec asks for, from its JSON."""
    if not gpu:
        return None
    return scheduler.GpuRequest(
        mode=scheduler.Mode(gpu["mode"]),
        count=gpu.get("count", 1),
        model=gpu.get("model"),
        core_milli=gpu.get("core_milli", scheduler.WHOLE_MILLI),
        memory_mib=gpu.get("memory_mib", 0),
        profile=gpu.get("profile"),
        any_of=tuple(gpu.get("any_of") or ()),
    )


@contextmanager
def memory_for_all() -> Iterator[None]:
    """A queue of 100,000 is grouped and sorted in memory: on disk it takes twice as long."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '64MB'")
        yield


@dataclass(frozen=True, slots=True)
class Passed:
    """The last scheduling pass, and how old what was read then may grow: a key for what is read once per pass.

    `number` 0: none has run yet.
    """

    number: int
    at: datetime
    milliseconds: int
    waiting: int
    span: int


def passed() -> Passed:
    rows = SchedulerEpoch.objects.filter(pk=1).annotate(now=Now())
    found = rows.values_list("number", "at", "milliseconds", "waiting", "now").first()
    if found is None:
        return Passed(0, db_now(), 0, 0, 0)
    number, at, milliseconds, waiting, now = found
    return Passed(number, at, milliseconds, waiting, int(now.timestamp()) // KEPT_S)
