"""The idle detector: measures every running environment, records its last use, and begins its release."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from django.db import connections, transaction
from django.utils.dateparse import parse_datetime

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Unavailable
from apps.common.scoping import acting
from apps.envs import idleness, program, states
from apps.envs.choices import Busy, Step
from apps.envs.control import Unreachable, request_json
from apps.envs.models import Environment, Watch
from apps.envs.services.shared import tell_pages
from apps.notifications.services import notify_user
from apps.workloads import activity, reach
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError, Usage
from apps.workloads.models import Attempt, Workload
from apps.workloads.selectors import current_attempt, usage_series

WINDOW_S = 60.0
# How many environments are asked at once: one that hangs holds one of these for some seconds, and nobody else.
ASKED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Observation:
    """What an environment's machine and its JupyterLab reported."""

    usage: list[Usage]
    inside: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Task:
    """What a thread needs to measure without reading rows. `since_s`: samples after this many seconds of running."""

    environment: Environment
    workload: Workload
    attempt: Attempt | None
    since_s: float


def watch_all(actor: Actor) -> int:
    """Measure every running environment, and warn or release if it is time; returns how many were measured."""
    rows = Environment.objects.filter(workload__status=Status.RUNNING, deleted_at__isnull=True)
    environments = list(rows.select_related("workload", "watch"))
    uses = activity.latest_use([row.workload_id for row in environments if row.workload_id])
    tasks = [_task(row, row.workload) for row in environments if row.workload is not None]
    for task, look in _look_at_all(actor, tasks):
        watch = measure(task.environment, task.workload, look, uses[task.workload.pk])
        warn_or_release(task.environment, watch)
    return len(environments)


def _task(environment: Environment, workload: Workload) -> _Task:
    attempt = current_attempt(workload)
    started = attempt.started_at if attempt is not None else None
    running_s = (db_now() - started).total_seconds() if started is not None else 0.0
    return _Task(environment, workload, attempt, max(0.0, running_s - WINDOW_S))


def _look_at_all(actor: Actor, tasks: Sequence[_Task]) -> Iterator[tuple[_Task, Observation]]:
    """Tasks with their observations, in the order in which they answer."""
    with ThreadPoolExecutor(ASKED_AT_ONCE, thread_name_prefix="idle") as pool:
        asked = {pool.submit(_look, actor, task): task for task in tasks}
        for answered in as_completed(asked):
            yield asked[answered], answered.result()


def _look(actor: Actor, task: _Task) -> Observation:
    """Runs in a thread of its own, without the scope and the connection of the loop."""
    try:
        with acting(actor):
            return Observation(_usage(task), _inside(task))
    finally:
        connections.close_all()  # a driver may have read the address of its node


def measure(environment: Environment, workload: Workload, look: Observation, use: activity.Use) -> Watch:
    """Update the verdict by an observation and store it."""
    now, usage, inside = db_now(), look.usage, look.inside
    seen = idleness.Measurement(
        now=now,
        started_at=workload.started_at or now,
        kernels_busy=inside.get("busy"),
        cpu_milli=round(fmean(one.cpu_milli for one in usage)) if usage else None,
        gpu_pct=_mean(one.gpu_util_pct for one in usage),
        has_gpu=workload.frozen_spec.gpu is not None,
        keep_until=environment.keep_until,
        kernel_at=inside.get("kernel_at"),
        terminal_at=inside.get("terminal_at"),
        input_at=use.last_input_at,
    )
    facts = {
        "kernels": inside.get("kernels"),
        "kernels_busy": seen.kernels_busy,
        "cpu_milli": seen.cpu_milli,
        "gpu_pct": seen.gpu_pct,
        "connections": sum(use.connections.values()),
    }
    return _remember(environment, workload, seen, facts)


def _remember(environment: Environment, workload: Workload, seen: idleness.Measurement, facts: dict[str, Any]) -> Watch:
    known: Watch | None = Watch.objects.filter(environment=environment).first()
    same = known if known is not None and known.workload_id == workload.pk else None
    before = idleness.Verdict(same.busy_at, Busy(same.cause)) if same is not None and same.cause else None
    verdict = idleness.update_verdict(seen, before)
    values = {
        "organisation_id": environment.organisation_id,
        "workload_id": workload.pk,
        "measured_at": seen.now,
        "busy_at": verdict.busy_at,
        "cause": verdict.cause,
        "facts": facts,
    }
    if same is None or not idleness.is_warning_due(seen.now, verdict.busy_at, environment.idle_minutes):
        values["warned_at"] = None  # used again, or a new start: the next warning is a new one
    watch: Watch = Watch.objects.update_or_create(environment=environment, defaults=values)[0]
    return watch


def warn_or_release(environment: Environment, watch: Watch) -> None:
    """Release an environment that has been idle for long enough; warn before that."""
    if idleness.is_due(watch.measured_at, watch.busy_at, environment.idle_minutes):
        try:
            with transaction.atomic():
                states.begin(environment, Step.RELEASE, by_id=None)
                tell_pages(environment)
        except Conflict:  # something is being done to it; the next look decides again
            return
    elif watch.warned_at is None and idleness.is_warning_due(
        watch.measured_at, watch.busy_at, environment.idle_minutes
    ):
        _warn(environment, watch)


def _warn(environment: Environment, watch: Watch) -> None:
    end = idleness.release_at(watch.busy_at, environment.idle_minutes)
    with transaction.atomic():
        if Watch.objects.filter(pk=watch.pk, warned_at__isnull=True).update(warned_at=db_now()) and end is not None:
            notify_user(
                organisation_id=environment.organisation_id,
                user_id=environment.owner_id,
                kind="environment.idle_soon",
                data={"environment_id": str(environment.pk), "name": environment.name, "at": end.isoformat()},
            )
            tell_pages(environment)


def _usage(task: _Task) -> list[Usage]:
    """Samples of the last minute; empty if nothing can be measured."""
    if task.attempt is None or task.attempt.started_at is None:
        return []
    try:
        return usage_series(task.attempt, since_s=task.since_s)
    except (Unavailable, DriverError):
        return []


def _inside(task: _Task) -> dict[str, Any]:
    """What JupyterLab reports of its notebooks and terminals; empty if it cannot be reached."""
    try:
        endpoint = reach.endpoint_of(task.workload, task.attempt, program.JUPYTER)
        kernels = request_json(endpoint, "GET", "/api/kernels")[1]
        terminals = request_json(endpoint, "GET", "/api/terminals")[1]
    except (DomainError, DriverError, Unreachable):
        return {}
    if not isinstance(kernels, list) or not isinstance(terminals, list):
        return {}
    return {
        "kernels": len(kernels),
        "busy": sum(1 for kernel in kernels if _text(kernel, "execution_state") in ("busy", "starting", "restarting")),
        "kernel_at": _latest(kernels),
        "terminal_at": _latest(terminals),
    }


def _text(row: Any, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, str) else ""


def _latest(rows: list[Any]) -> datetime | None:
    moments = [_moment(_text(row, "last_activity")) for row in rows]
    return max((moment for moment in moments if moment is not None), default=None)


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 1) if known else None


def snapshot_due(actor: Actor) -> int:
    """Begin automatic snapshots of running environments whose interval has passed; returns how many."""
    now, begun = db_now(), 0
    rows = Environment.objects.filter(
        workload__status=Status.RUNNING, snapshot_minutes__isnull=False, deleted_at__isnull=True
    )
    for environment in rows.select_related("workload"):
        last = environment.snapshots.order_by("-created_at").values_list("created_at", flat=True).first()
        started = environment.workload.started_at if environment.workload else None
        since = max(filter(None, (last, started)), default=now)
        if now - since >= timedelta(minutes=environment.snapshot_minutes or 0):
            begun += _begin_snapshot(environment)
    return begun


def _begin_snapshot(environment: Environment) -> bool:
    try:
        with transaction.atomic():
            states.begin(environment, Step.SNAPSHOT, by_id=None)
    except Conflict:
        return False
    return True
