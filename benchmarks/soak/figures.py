"""The result of a soak, for people and for `--json`."""

import resource
from collections import defaultdict
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.db.models import Count, F

from apps.billing.models import Charge
from apps.common.scoping import acting
from apps.workloads.drivers.base import ExitReason
from apps.workloads.models import Attempt, Event, Preemption, ReplicaSet, Workload
from benchmarks.soak.world import platform

if TYPE_CHECKING:
    from benchmarks.soak.people import Crowd
    from benchmarks.soak.run import Soak


def figures(soak: "Soak", crowd: "Crowd") -> dict[str, Any]:
    """Counts of what happened, how long people waited, and what did not hold."""
    with acting(platform()):
        waits = _waits_s()
        return {
            "seed": soak.plan.seed,
            "hours": soak.plan.hours,
            "reached_h": soak.reached_h,
            "people": soak.plan.people,
            "organisations": soak.plan.organisations,
            "acts": dict(sorted(crowd.done.items())),
            "refused": dict(sorted(crowd.refused.items())),
            "workloads": Workload.objects.count(),
            "started": Attempt.objects.filter(started_at__isnull=False).count(),
            "gangs": Workload.objects.filter(member_count__gt=1).count(),
            "gang_attempts": _gang_attempts(),
            "sets": _sets(),
            "ended": _ended(),
            "preemptions": dict(Preemption.objects.values_list("outcome").annotate(n=Count("pk")).order_by("outcome")),
            "node_deaths": soak.machines.deaths,
            "charges": Charge.objects.count(),
            "wait_p50_s": _quantile(waits, 0.5),
            "wait_p95_s": _quantile(waits, 0.95),
            "longest_wait_s": round(waits[-1]) if waits else 0,
            "longest_waits": _longest(),
            "passes": soak.loops.passes,
            "checks": soak.checks,
            "drained_h": soak.drained_h,
            "counted": dict(sorted(soak.seen.counted.items())),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "violations": [asdict(one) for one in soak.violations],
        }


def _ended() -> dict[str, int]:
    rows = Workload.objects.filter(ended_at__isnull=False).values_list("status", "reason")
    return {f"{s} {r}".strip(): n for s, r, n in rows.annotate(n=Count("pk")).order_by("status", "reason")}


def _gang_attempts() -> dict[str, int]:
    """Attempts of gangs that ran, that were on several machines, and that a machine or its silence ended."""
    rows = Attempt.objects.filter(workload__member_count__gt=1)
    apart = rows.alias(nodes=Count("members__node", distinct=True)).filter(nodes__gt=1)
    return {
        "started": rows.filter(started_at__isnull=False).count(),
        "apart": apart.count(),
        "lost": rows.filter(exit_reason=ExitReason.LOST).count(),
    }


def _sets() -> dict[str, Any]:
    """Sets, their replicas, and tries after the first by why the one before had ended."""
    replicas = Workload.objects.filter(replica_set__isnull=False)
    before = Attempt.objects.filter(workload__in=replicas, ended_at__isnull=False)
    again = before.filter(workload__attempt_number__gt=F("number")).values_list("exit_reason")
    over = ReplicaSet.objects.filter(ended_at__isnull=False).values_list("reason")
    return {
        "started": ReplicaSet.objects.count(),
        "ended": dict(over.annotate(n=Count("pk")).order_by("reason")),
        "replicas": replicas.count(),
        "replaced": {reason or "moved": n for reason, n in again.annotate(n=Count("pk")).order_by("exit_reason")},
    }


def _waits_s() -> list[float]:
    """From submission to the first placement."""
    rows = Attempt.objects.filter(number=1).values_list("placed_at", "workload__created_at")
    return sorted((placed - made).total_seconds() for placed, made in rows)


def _longest(most: int = 5) -> list[dict[str, Any]]:
    """Who waited longest for the first placement: what they asked for, and the hours spent under each cause."""
    rows = Attempt.objects.filter(number=1).select_related("workload")
    slowest = sorted(rows, key=lambda attempt: attempt.workload.created_at - attempt.placed_at)[:most]
    return [_wait_of(attempt) for attempt in slowest]


def _wait_of(attempt: Attempt) -> dict[str, Any]:
    workload = attempt.workload
    hours: defaultdict[str, float] = defaultdict(float)
    told = Event.objects.filter(workload=workload, kind="waiting", at__lt=attempt.placed_at).order_by("pk")
    moments = [(event.at, str(event.data["cause"])) for event in told]
    for (at, cause), (until, _next) in pairwise([*moments, (attempt.placed_at, "")]):
        hours[cause] += (until - at).total_seconds() / 3600
    spec = workload.frozen_spec
    return {
        "organisation": str(workload.organisation_id)[:8],
        "kind": workload.kind,
        "priority": workload.priority,
        "cards": f"{spec.gpu.count} x {spec.gpu.model} {spec.gpu.mode}" if spec.gpu else "none",
        "cpu_milli": spec.cpu_milli,
        "since": workload.created_at.isoformat(timespec="minutes"),
        "waited_h": round((attempt.placed_at - workload.created_at).total_seconds() / 3600, 1),
        "hours_by_cause": {cause: round(spent, 1) for cause, spent in sorted(hours.items())},
    }


def _quantile(values: list[float], share: float) -> int:
    return round(values[min(len(values) - 1, int(share * len(values)))]) if values else 0
