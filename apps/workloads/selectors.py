"""Reading workloads, as far as the actor may."""

from datetime import datetime, timedelta
from statistics import median
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.billing.prices.own import with_paid_rate
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.common.prepared import prepared, prepared_in_scope
from apps.workloads import kinds, machines
from apps.workloads.choices import PLACED, Kind, Status
from apps.workloads.drivers.base import Handle, LogChunk, Usage
from apps.workloads.drivers.capabilities import MetricsMixin
from apps.workloads.kinds import KindRules
from apps.workloads.models import Attempt, Event, SchedulerEpoch, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.permissions import sees_everyones
from apps.workloads.programs import Program, program_at
from apps.workloads.references import Reference

# A page calls an attempt stale when its node has shown no proof of it for this long.
STALE_AFTER = timedelta(seconds=30)
STEPS = ("quota", "queue", "image", "mount", "ready")


def visible(actor: Actor, kind: Kind | None = None) -> QuerySet[Workload]:
    """One's own workloads; those of the organisation for who manages them; all for the platform's staff.

    Of one kind, or of every kind that the actor may view, `paid_rate` in fen per hour. Raises `Denied` where that is
    none.
    """
    rows = bare(actor, kind).select_related("owner", "package", "price_version", "organisation")
    return with_paid_rate(rows).order_by("-created_at", "-pk")


def bare(actor: Actor, kind: Kind | None = None) -> QuerySet[Workload]:
    """The same rows without what pages show of them: for a search over many, which reads names from an index alone."""
    rows: QuerySet[Workload] = Workload.objects.filter(_seen_by(actor, kind))
    return rows if kind is None else rows.filter(kind=kind)


def sees_all(actor: Actor, ids: set[UUID]) -> bool:
    """Whether every one of these is visible: a cheap query, asked every few seconds for each open page."""
    return Workload.objects.filter(_seen_by(actor), pk__in=ids).count() == len(ids)


def _seen_by(actor: Actor, kind: Kind | None = None) -> Q:
    if actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
        return Q()
    return _of(actor, [kinds.named(kind)] if kind else list(kinds.every()))


def _of(actor: Actor, asked: list[KindRules]) -> Q:
    """Kinds that the actor manages whole, and of the others that they may view their own."""
    viewed = {rules.name for rules in asked if actor.may(rules.rights.view)}
    if not viewed:
        actor.require(asked[0].rights.view)
    managed = {name for name in viewed if sees_everyones(actor, name)}
    mine = Q(owner_id=actor.user_id, kind__in=sorted(viewed))
    return mine | Q(kind__in=sorted(managed)) if managed else mine


def get(actor: Actor, workload_id: UUID) -> Workload:
    """One visible workload; `NotFound` otherwise."""
    workload = visible(actor).filter(pk=workload_id).first()
    if workload is None:
        raise NotFound
    return workload


def attempts(workload: Workload) -> list[Attempt]:
    """Newest first, with their node, the cards they were given, and the members of a gang."""
    rows = Attempt.objects.filter(workload=workload).select_related("node", "workload").order_by("-number")
    rows = rows.prefetch_related("placements__accelerator")
    return list(rows.prefetch_related("members__node") if workload.member_count > 1 else rows)


def current_attempt(workload: Workload) -> Attempt | None:
    rows: QuerySet[Attempt] = Attempt.objects.filter(workload=workload).select_related("node", "workload")
    return rows.order_by("-number").first()


def is_stale(attempt: Attempt) -> bool:
    """Placed, not ended, and unseen for too long: the page shows the last values, marked."""
    if attempt.ended_at is not None or attempt.handle is None:
        return False
    return db_now() - (attempt.seen_at or attempt.placed_at) > STALE_AFTER


def program(attempt: Attempt | None, rank: int = 0) -> Program | None:
    """The program of this rank; None without an attempt. Raises `NotFound` for a rank that it has not."""
    if attempt is None:
        return None
    found = program_at(attempt, rank)
    if found is None:
        raise NotFound
    return found


def events(workload: Workload, *, after: int = 0) -> QuerySet[Event]:
    rows: QuerySet[Event] = Event.objects.filter(workload=workload, pk__gt=after).order_by("pk")
    return rows


def log_chunk(program: Program | None, *, offset: int = 0, limit: int = 65536) -> LogChunk:
    """Bytes of a program's log from `offset`; empty until the node has taken it over.

    Raises `Unavailable` where its machine cannot be asked.
    """
    if program is None or program.handle is None:
        return LogChunk(b"", offset, offset, complete=program is not None and program.ended_at is not None)
    with machines.reaching_machine():
        return driver_named(program.handle["driver"]).logs(Handle.from_dict(program.handle), offset, limit)


def usage_series(program: Program | None, *, since_s: float = 0.0) -> list[Usage]:
    """Measurements of a program after `since_s` seconds of running; empty where its driver measures nothing.

    Raises `Unavailable` where its machine cannot be asked.
    """
    if program is None or program.handle is None:
        return []
    driver = driver_named(program.handle["driver"])
    if not isinstance(driver, MetricsMixin):
        return []
    with machines.reaching_machine():
        return driver.metrics(Handle.from_dict(program.handle), since_s)


def startup_seconds(workload: Workload, attempt: Attempt | None) -> dict[str, float]:
    """Seconds of each start-up step so far: waiting in the queue, then what the driver reported."""
    if attempt is None:
        return {"queue": max(0.0, (db_now() - workload.queued_at).total_seconds())} if workload.is_live else {}
    steps = {name: value["seconds"] for name, value in attempt.steps.items() if name in STEPS}
    waited = (attempt.placed_at - workload.queued_at).total_seconds()
    found = {"queue": max(0.0, waited), **steps}
    if attempt.started_at is not None:
        known = sum(steps.values())
        found["ready"] = max(0.0, (attempt.started_at - attempt.placed_at).total_seconds() - known)
    return found


def usual_startup_seconds(workload: Workload, *, sample: int = 50) -> dict[str, float]:
    """The median of each start-up step over the latest runs with the same runtime; empty without history."""
    image = workload.frozen_spec.image
    alike = {"digest": image.digest} if isinstance(image, Reference) else {"name": image.name}
    runs = (
        Attempt.objects.filter(workload__spec__image__contains=alike, started_at__isnull=False)
        .exclude(workload=workload)
        .select_related("workload")
        .order_by("-started_at")[:sample]
    )
    series: dict[str, list[float]] = {}
    for run in runs:
        for name, seconds in startup_seconds(run.workload, run).items():
            series.setdefault(name, []).append(seconds)
    return {name: median(values) for name, values in series.items()}


def live_counts(actor: Actor, kind: Kind) -> dict[str, int]:
    """How many visible workloads of a kind are running, starting and waiting."""
    statuses = _live_statuses(actor, kind)
    return {
        "running": statuses.count(Status.RUNNING),
        "starting": statuses.count(Status.STARTING) + statuses.count(Status.PLACED),
        "queued": statuses.count(Status.QUEUED),
        "stopping": statuses.count(Status.STOPPING),
    }


@prepared
def _live_statuses(actor: Actor, kind: Kind, /) -> QuerySet[Workload, str]:
    live = bare(actor, kind).order_by().filter(status__in=PLACED | {Status.QUEUED})
    return live.values_list("status", flat=True)


def scheduler_is_alive() -> bool:
    """Whether a scheduling pass ran within the last minute."""
    return any(db_now() - at < timedelta(minutes=1) for at in _last_pass())


@prepared_in_scope
def _last_pass() -> QuerySet[SchedulerEpoch, datetime]:
    return SchedulerEpoch.objects.filter(pk=1).values_list("at", flat=True)
