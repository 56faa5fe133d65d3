"""Who waits, beside what, and what they are told about it."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.db.models import F

from apps.tenants.models import Guarantee, Quota
from apps.workloads.choices import PLACED, Status
from apps.workloads.explaining.causes import HOPELESS
from apps.workloads.models import Placement, Preemption, Workload
from apps.workloads.queueing.policy import rules
from benchmarks.soak.look import Look, cause_of
from benchmarks.soak.room import Machine, could_ever_hold_all, fewest_members, has_room_for_all
from scheduler import CauseCode

SHORTAGES = frozenset({CauseCode.CPU, CauseCode.MEMORY, CauseCode.DEVICES, CauseCode.SLICES, CauseCode.GANG})
# A guarantee is met by notice, save window and the shortest run of what is in its way; then some passes more.
PATIENCE = timedelta(hours=2)


def nobody_waits_beside_room(look: Look) -> Iterator[str]:
    """Where somebody who waits would fit at this moment, somebody who does not fit must have the room kept for them.

    Independent of how turns are dealt: whoever of those that fit goes first, one of them has to start, unless room on
    that machine is promised to a workload that is too large for what is free. Organisations over a limit do not count.
    A gang fits where all members do, an elastic one where its fewest do, on machines that nobody larger waits for.
    """
    over = set(Quota.objects.filter(limit__isnull=False, used__gt=F("limit")).values_list("organisation_id", flat=True))
    waiting = [workload for workload in look.waiting if workload.organisation_id not in over]
    gangs = _gangs_that_fit(look)
    for gang in [gang for gang in gangs if gang.organisation_id not in over]:
        look.memory.counted["beside_room"] += 1
        room = f"room for {fewest_members(gang)} members"
        yield f"{look.who(gang)} waits beside {room}, told {cause_of(gang) or 'nothing'}"
    able = {gang.pk for gang in gangs}
    for machine in look.machines:
        fitting = [one for one in waiting if one.member_count == 1 and machine.has_room_for(one)]
        if not fitting or _kept_for_others(machine, look.waiting, {workload.pk for workload in fitting} | able):
            continue
        look.memory.counted["beside_room"] += len(fitting)
        told = "; ".join(f"{look.who(one)}, told {cause_of(one) or 'nothing'}" for one in fitting[:3])
        yield f"{len(fitting)} wait beside room on {machine.free_words()} that nobody larger waits for: {told}"


def _gangs_that_fit(look: Look) -> list[Workload]:
    """Gangs with room for their fewest members on machines of which none is promised to others that do not fit."""
    gangs = [one for one in look.waiting if one.member_count > 1 and has_room_for_all(look.machines, one)]
    while True:
        able = [gang for gang in gangs if has_room_for_all(_free_for(look, gang, gangs), gang)]
        if len(able) == len(gangs):
            return able
        gangs = able


def _free_for(look: Look, gang: Workload, gangs: list[Workload]) -> list[Machine]:
    """Machines that are not promised to others that do not fit. Of gangs, those named fit."""
    able = {one.pk for one in gangs}
    return [
        machine
        for machine in look.machines
        if not any(
            str(machine.node.pk) in other.promised_nodes
            and other.pk not in able
            and (other.member_count > 1 or not machine.has_room_for(other))
            for other in look.waiting
            if other.pk != gang.pk
        )
    ]


def _kept_for_others(machine: Machine, waiting: list[Workload], fitting: set[UUID]) -> list[Workload]:
    """Those that were promised this machine and do not fit on it yet."""
    here = str(machine.node.pk)
    return [one for one in waiting if here in one.promised_nodes and one.pk not in fitting]


def explanation_is_true(look: Look) -> Iterator[str]:
    """A shortage is one on every machine, a limit is exceeded, victims have been asked, what is ahead is there."""
    asked = set(Preemption.objects.filter(ended_at__isnull=True).values_list("for_workload_id", flat=True))
    for workload in look.waiting:
        cause = cause_of(workload)
        if not cause:
            yield f"{look.who(workload)} has never been told why it waits"
        elif cause in SHORTAGES:
            if has_room_for_all(look.machines, workload):
                room = next(machine for machine in look.machines if machine.has_room_for(workload))
                yield f"{look.who(workload)} is told {cause} although it fits on {room.free_words()}"
        elif cause == CauseCode.WAITING_FOR_VICTIMS and workload.pk not in asked and not _emptied(look, workload):
            yield f"{look.who(workload)} is told that others make room, but nobody was asked to"
        elif cause == CauseCode.BEHIND_RESERVATION and not _somebody_ahead(look, workload):
            yield f"{look.who(workload)} is told that room is kept for others, but nobody has room kept there"
        elif cause == CauseCode.QUOTA and not _over_a_limit(workload):
            yield f"{look.who(workload)} is told of a limit, but none is exceeded"


def _emptied(look: Look, workload: Workload) -> bool:
    """Room was emptied for it and kept; the last ones are still on their way out."""
    return bool(workload.promised_nodes) or Workload.objects.filter(status=Status.STOPPING).exists()


def _somebody_ahead(look: Look, workload: Workload) -> bool:
    node = workload.explanation.get("params", {}).get("node")
    return any(node in other.promised_nodes for other in look.waiting if other.pk != workload.pk)


def _over_a_limit(workload: Workload) -> bool:
    rows = Quota.objects.filter(organisation_id=workload.organisation_id, limit__isnull=False)
    return rows.filter(used__gt=F("limit")).exists()


def never_means_never(look: Look) -> Iterator[str]:
    """What was told that it can never start has not started while the hardware stayed as it was; and it is so."""
    for pk, (at, hardware) in list(look.memory.hopeless.items()):
        started = Workload.objects.filter(pk=pk, attempts__placed_at__gt=at).exists()
        if started and hardware == look.hardware:
            yield f"{pk} was told at {at:%m-%d %H:%M} that it can never start, and has started"
    look.memory.hopeless.clear()
    for workload in look.waiting:
        if cause_of(workload) not in HOPELESS:
            continue
        look.memory.hopeless[workload.pk] = look.now, look.hardware
        if could_ever_hold_all(look.machines, workload):
            yield f"{look.who(workload)} is told {cause_of(workload)}, but the machines could hold it when empty"


def nobody_below_guarantee_starves(look: Look) -> Iterator[str]:
    """Whoever waits inside a guarantee gets it, as long as somebody else holds such cards that they must give back."""
    for row in Guarantee.objects.select_related("organisation").order_by("pk"):
        inside = [
            workload
            for workload in look.waiting
            if workload.organisation_id == row.organisation_id and _within(workload, row) and _to_give_back(look, row)
        ]
        for workload in inside:
            since = look.memory.below_guarantee_since.setdefault(workload.pk, look.now)
            if look.now - since > PATIENCE:
                yield f"{look.who(workload)} waits inside its guarantee of {row.gpu_milli} milli-{row.gpu_model}"
        waiting = {workload.pk for workload in inside}
        before = look.memory.below_guarantee_since
        look.memory.below_guarantee_since = {pk: at for pk, at in before.items() if pk in waiting}


def _within(workload: Workload, row: Guarantee) -> bool:
    gpu = workload.frozen_spec.gpu
    if gpu is None or gpu.model != row.gpu_model or gpu.mode != "whole":
        return False
    wanted = workload.frozen_spec.gpu_milli * workload.member_count
    return _held(row, workload.organisation_id) + wanted <= row.gpu_milli


def _held(row: Guarantee, organisation: UUID) -> int:
    open_here = Placement.objects.filter(released_at__isnull=True, organisation_id=organisation)
    return sum(open_here.filter(accelerator__model=row.gpu_model).values_list("core_milli", flat=True))


def _to_give_back(look: Look, row: Guarantee) -> bool:
    """Whether anybody without a guarantee holds a whole such card, may be asked, and has run long enough."""
    others = Placement.objects.filter(
        released_at__isnull=True, accelerator__model=row.gpu_model, exclusive=True, attempt__workload__status__in=PLACED
    ).exclude(organisation_id=row.organisation_id)
    mine = {machine.node.pk for machine in look.machines if machine.takes_work}
    old = look.now - timedelta(seconds=rules().min_runtime_s)
    held = others.filter(attempt__started_at__lt=old, attempt__workload__spec__preemptible=True, node__in=mine)
    promised = Guarantee.objects.filter(gpu_model=row.gpu_model).values("organisation_id")
    return held.exclude(organisation_id__in=promised).exists()
