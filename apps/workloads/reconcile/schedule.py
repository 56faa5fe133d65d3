"""One scheduling pass: snapshot → plan → decisions written, in one transaction under one lock."""

from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F

import scheduler
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import announce, nudge, states
from apps.workloads.choices import Reason, Status
from apps.workloads.isolation import usable_nodes
from apps.workloads.models import Attempt, Placement, SchedulerEpoch, Workload
from apps.workloads.reconcile import snapshot
from apps.workloads.reconcile.explaining import explanations
from apps.workloads.reconcile.lock import try_to_schedule


def run_pass(actor: Actor) -> int | None:
    """Place what fits and say of the rest why it waits; the number placed, None where another pass is under way."""
    began = monotonic()
    with transaction.atomic():
        if not try_to_schedule():
            return None
        passed = [_pass(actor, db_now(), simulated=simulated) for simulated in _worlds()]
        placed = sum(count for count, _left in passed)
        _count(began, sum(left for _count, left in passed))
    if placed:
        nudge.reconcile()
    return placed


def _worlds() -> list[bool]:
    """The worlds, real and simulated, that anything waits for."""
    waiting = Workload.objects.filter(status=Status.QUEUED)
    return [world for world in (False, True) if waiting.filter(snapshot.of_world(world)).exists()]


def _pass(actor: Actor, now: datetime, *, simulated: bool) -> tuple[int, int]:
    """One world's decisions, written: how many were placed and how many still wait."""
    view = snapshot.take(now, simulated=simulated)
    waiting = {str(workload.pk): workload for workload in Workload.objects.filter(status=Status.QUEUED)}
    refused = _unisolated(view)
    plan = scheduler.plan(_without(view, refused), now.timestamp())
    placed = sum(_place(actor, waiting[task], plan) for task in dict.fromkeys(p.task_id for p in plan.places))
    for task, explanation in explanations(view, plan).items():
        _explain(actor, waiting[task], explanation, now)
    for task in refused:
        _explain(actor, waiting[task], {"cause": Reason.ISOLATION.value, "params": {}, "funnel": []}, now)
    return placed, len(plan.waits) + len(refused)


def _unisolated(view: scheduler.Snapshot) -> frozenset[str]:
    """Waiting tasks whose organisation may use none of the nodes, because nothing isolates it there."""
    everything = {UUID(node.id) for node in view.nodes}
    closed = {
        organisation
        for organisation in {task.organisation for task in view.waiting}
        if everything and not usable_nodes(UUID(organisation))
    }
    return frozenset(task.id for task in view.waiting if task.organisation in closed)


def _without(view: scheduler.Snapshot, refused: frozenset[str]) -> scheduler.Snapshot:
    waiting = tuple(task for task in view.waiting if task.id not in refused)
    return scheduler.Snapshot(nodes=view.nodes, running=view.running, waiting=waiting, queues=view.queues, mix=view.mix)


def _place(actor: Actor, workload: Workload, plan: scheduler.Plan) -> bool:
    """Write one placement; dropped where the workload was cancelled since the snapshot."""
    place = plan.places_of(str(workload.pk))[0]
    attempt = Attempt(
        id=uuid4(),
        organisation_id=workload.organisation_id,
        workload=workload,
        number=workload.attempt_number + 1,
        node_id=UUID(place.node_id),
    )
    return states.place(actor, workload, attempt, _placements(workload, attempt, place))


def _placements(workload: Workload, attempt: Attempt, place: scheduler.Place) -> list[Placement]:
    spec = workload.frozen_spec
    exclusive = spec.gpu is not None and spec.gpu.mode == scheduler.Mode.WHOLE
    rows = [
        Placement(
            organisation_id=workload.organisation_id,
            attempt=attempt,
            node_id=attempt.node_id,
            accelerator_id=UUID(piece.device_id),
            device_memory_mib=piece.memory_mib,
            core_milli=piece.core_milli,
            mig_start=piece.mig_start,
            mig_profile=piece.mig_profile or "",
            exclusive=exclusive,
        )
        for piece in place.slices
    ] or [Placement(organisation_id=workload.organisation_id, attempt=attempt, node_id=attempt.node_id)]
    rows[0].cpu_milli, rows[0].memory_mib = spec.cpu_milli, spec.memory_mib
    return rows


def _explain(actor: Actor, workload: Workload, explanation: dict[str, Any], now: datetime) -> None:
    """Keep the newest explanation; an event only where the dominant cause itself changed."""
    changed = workload.explanation.get("cause") != explanation["cause"]
    Workload.objects.filter(pk=workload.pk).update(explanation=explanation, explained_at=now)
    if changed:
        data = {"cause": explanation["cause"], "params": explanation["params"]}
        announce.event(actor, workload, "waiting", data)


def _count(began: float, waiting: int) -> None:
    milliseconds = int((monotonic() - began) * 1000)
    SchedulerEpoch.objects.get_or_create(pk=1)
    SchedulerEpoch.objects.filter(pk=1).update(
        number=F("number") + 1, at=db_now(), milliseconds=milliseconds, waiting=waiting
    )
