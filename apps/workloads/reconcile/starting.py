"""The plan's placements as rows: attempts and what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID, uuid4

import scheduler
from apps.common.actor import Actor
from apps.workloads import nudge, start_rights, states
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.options import given, place_on

# So many start in one pass; the next one, which follows at once, decides the rest again.
MOST = 400


@dataclass(frozen=True, slots=True)
class Started:
    """The workloads that were placed, and those that were ended instead because their owners may not run them."""

    placed: list[UUID]
    ended: frozenset[UUID]

    def is_ended(self, task_id: str) -> bool:
        return UUID(task_id) in self.ended


def start(actor: Actor, plan: scheduler.Plan) -> Started:
    """Write the placements. One that was cancelled since it was read is dropped.

    Rights are asked anew for what is placed, and for what others would have to give way to.
    """
    first = {place.task_id: place for place in reversed(plan.places)}
    chosen = [UUID(task) for task in dict.fromkeys(place.task_id for place in plan.places)][:MOST]
    workloads = Workload.objects.in_bulk({*chosen, *(UUID(preempt.for_task_id) for preempt in plan.preempts)})
    ended = _end_unauthorised(actor, workloads.values())
    allowed = [pk for pk in chosen if pk in workloads and pk not in ended]
    return Started([pk for pk in allowed if _place(actor, workloads[pk], first[str(pk)])], ended)


def _end_unauthorised(actor: Actor, workloads: Iterable[Workload]) -> frozenset[UUID]:
    """Stop what must not start. The room that was planned for it goes to others in the next pass."""
    queued = {workload.pk: workload for workload in workloads if workload.status == Status.QUEUED}
    refused = start_rights.refusals(queued.values())
    for pk, why in refused.items():
        if states.stop(actor, queued[pk], why):
            start_rights.tell(queued[pk], why)
    if refused:
        nudge.schedule()
    return frozenset(refused)


def _place(actor: Actor, workload: Workload, place: scheduler.Place) -> bool:
    attempt = Attempt(
        id=uuid4(),
        organisation_id=workload.organisation_id,
        workload=workload,
        number=workload.attempt_number + 1,
        node_id=UUID(place.node_id),
    )
    option = given(workload.frozen_spec, place)
    if option is None:
        return states.place(actor, workload, attempt, _placements(workload, attempt, place))
    return place_on(actor, workload, attempt, _placements(workload, attempt, place), option)


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
