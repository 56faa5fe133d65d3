"""The plan's placements as rows: attempts and what they hold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import scheduler
from apps.clusters.rights import lock_places
from apps.common.actor import Actor
from apps.workloads import nudge, start_rights, states
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.options import given_option, place_on
from apps.workloads.reconcile import gang_networks

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
    places: dict[str, list[scheduler.Place]] = defaultdict(list)
    for place in plan.places:
        places[place.task_id].append(place)
    chosen = [UUID(task) for task in places][:MOST]
    workloads = Workload.objects.in_bulk({*chosen, *(UUID(preempt.for_task_id) for preempt in plan.preempts)})
    ended = _end_unauthorised(actor, workloads.values())
    allowed = _within_reach([workloads[pk] for pk in chosen if pk in workloads and pk not in ended], places)
    return Started([pk for pk in allowed if _place(actor, workloads[pk], places[str(pk)])], ended)


def _within_reach(workloads: Sequence[Workload], places: Mapping[str, Sequence[scheduler.Place]]) -> list[UUID]:
    """Those whose nodes are still in a cluster that they may use; the others are planned anew."""
    nodes = {each.pk: {UUID(place.node_id) for place in places[str(each.pk)]} for each in workloads}
    locked = lock_places(set().union(*nodes.values()), {each.organisation_id for each in workloads})
    found = [
        each.pk
        for each in workloads
        if locked.may_start(each.organisation_id, nodes[each.pk], each.frozen_spec.cluster)
    ]
    if len(found) < len(workloads):
        nudge.schedule()
    return found


def _end_unauthorised(actor: Actor, workloads: Iterable[Workload]) -> frozenset[UUID]:
    """Stop what must not start. The room that was planned for it goes to others in the next pass."""
    queued = {workload.pk: workload for workload in workloads if workload.status == Status.QUEUED}
    refused = start_rights.refusals(queued.values())
    for pk, why in refused.items():
        if states.stop(actor, queued[pk], why):
            start_rights.notify_of_refusal(queued[pk], why)
    if refused:
        nudge.schedule()
    return frozenset(refused)


def _place(actor: Actor, workload: Workload, places: Sequence[scheduler.Place]) -> bool:
    """All members of the task, or as many of an elastic one as there was room for; the first of them is rank 0."""
    attempt = Attempt(
        id=uuid4(),
        organisation_id=workload.organisation_id,
        workload=workload,
        number=workload.attempt_number + 1,
        node_id=UUID(places[0].node_id),
        size=len(places) if len(places) < workload.member_count else None,
        network_number=gang_networks.number_for({UUID(place.node_id) for place in places}),
    )
    placements = [row for place in places for row in _placements(workload, attempt, place)]
    members = _members(attempt, places) if workload.member_count > 1 else []
    option = given_option(workload.frozen_spec, places[0])
    if option is None:
        return states.place(actor, workload, attempt, placements, members)
    return place_on(actor, workload, attempt, placements, members, option)


def _members(attempt: Attempt, places: Sequence[scheduler.Place]) -> list[Member]:
    return [
        Member(organisation_id=attempt.organisation_id, attempt=attempt, rank=place.member, node_id=UUID(place.node_id))
        for place in places
    ]


def _placements(workload: Workload, attempt: Attempt, place: scheduler.Place) -> list[Placement]:
    spec = workload.frozen_spec
    exclusive = spec.gpu is not None and spec.gpu.mode == scheduler.Mode.WHOLE
    rows = [
        Placement(
            organisation_id=workload.organisation_id,
            attempt=attempt,
            rank=place.member,
            node_id=UUID(place.node_id),
            accelerator_id=UUID(piece.device_id),
            device_memory_mib=piece.memory_mib,
            core_milli=piece.core_milli,
            mig_start=piece.mig_start,
            mig_profile=piece.mig_profile or "",
            exclusive=exclusive,
        )
        for piece in place.slices
    ] or [
        Placement(
            organisation_id=workload.organisation_id, attempt=attempt, rank=place.member, node_id=UUID(place.node_id)
        )
    ]
    rows[0].cpu_milli, rows[0].memory_mib = spec.cpu_milli, spec.memory_mib
    return rows
