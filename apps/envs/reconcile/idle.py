"""The idle detector: looks into every running environment, remembers when it was last used, begins its release."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError
from apps.envs import idleness, program, states
from apps.envs.choices import Busy, Step
from apps.envs.control import Unreachable, ask
from apps.envs.models import Environment, Watch
from apps.envs.services.shared import tell_pages
from apps.notifications.services import notify_user
from apps.workloads import activity, reach
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError, Usage
from apps.workloads.models import Attempt, Workload
from apps.workloads.selectors import current_attempt, usage_series

WINDOW_S = 60.0


def watch_all(actor: Actor) -> int:
    """Measure every running environment, warn and release where it is time; how many were measured."""
    rows = Environment.objects.filter(workload__status=Status.RUNNING, deleted_at__isnull=True)
    environments = list(rows.select_related("workload", "watch"))
    uses = activity.latest([row.workload_id for row in environments if row.workload_id])
    for environment in environments:
        workload = environment.workload
        if workload is not None:
            watch = measure(actor, environment, workload, uses[workload.pk])
            act(environment, watch)
    return len(environments)


def measure(actor: Actor, environment: Environment, workload: Workload, use: activity.Use) -> Watch:
    """Look once and write down what was found."""
    now = db_now()
    attempt = current_attempt(workload)
    usage = _usage(attempt)
    inside = _inside(actor, workload)
    seen = idleness.Seen(
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


def _remember(environment: Environment, workload: Workload, seen: idleness.Seen, facts: dict[str, Any]) -> Watch:
    known: Watch | None = Watch.objects.filter(environment=environment).first()
    same = known if known is not None and known.workload_id == workload.pk else None
    before = idleness.Verdict(same.busy_at, Busy(same.cause)) if same is not None and same.cause else None
    verdict = idleness.judge(seen, before)
    values = {
        "organisation_id": environment.organisation_id,
        "workload_id": workload.pk,
        "measured_at": seen.now,
        "busy_at": verdict.busy_at,
        "cause": verdict.cause,
        "facts": facts,
    }
    if same is None or not idleness.warn_now(seen.now, verdict.busy_at, environment.idle_minutes):
        values["warned_at"] = None  # used again, or a new start: the next warning is a new one
    watch: Watch = Watch.objects.update_or_create(environment=environment, defaults=values)[0]
    return watch


def act(environment: Environment, watch: Watch) -> None:
    """Release what is idle for long enough; warn of it before."""
    if idleness.is_due(watch.measured_at, watch.busy_at, environment.idle_minutes):
        try:
            with transaction.atomic():
                states.begin(environment, Step.RELEASE, by_id=None)
                tell_pages(environment)
        except Conflict:  # something is being done to it; the next look decides again
            return
    elif watch.warned_at is None and idleness.warn_now(watch.measured_at, watch.busy_at, environment.idle_minutes):
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


def _usage(attempt: Attempt | None) -> list[Usage]:
    """Samples of the last minute; empty where nothing can be seen."""
    if attempt is None or attempt.started_at is None:
        return []
    since = (db_now() - attempt.started_at).total_seconds() - WINDOW_S
    try:
        return usage_series(attempt, since_s=max(0.0, since))
    except DriverError:
        return []


def _inside(actor: Actor, workload: Workload) -> dict[str, Any]:
    """What JupyterLab says of its notebooks and terminals; empty where it cannot be asked."""
    try:
        endpoint = reach.endpoint(actor, workload, program.JUPYTER)
        kernels = ask(endpoint, "GET", "/api/kernels")[1]
        terminals = ask(endpoint, "GET", "/api/terminals")[1]
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
    """Begin automatic snapshots of what runs and has not been saved for its interval; how many."""
    now, begun = db_now(), 0
    rows = Environment.objects.filter(
        workload__status=Status.RUNNING, snapshot_minutes__isnull=False, deleted_at__isnull=True
    )
    for environment in rows.select_related("workload"):
        last = environment.snapshots.order_by("-created_at").values_list("created_at", flat=True).first()
        started = environment.workload.started_at if environment.workload else None
        since = max(filter(None, (last, started)), default=now)
        if now - since >= timedelta(minutes=environment.snapshot_minutes or 0):
            begun += _begin(environment)
    return begun


def _begin(environment: Environment) -> bool:
    try:
        with transaction.atomic():
            states.begin(environment, Step.SNAPSHOT, by_id=None)
    except Conflict:
        return False
    return True
