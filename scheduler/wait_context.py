"""The context of a waiting task: who holds the cards it could use, and which changed requests would start now."""

from dataclasses import replace

import numpy as np

from scheduler.allocator import Allocator
from scheduler.decisions import Alternative, Holder
from scheduler.demand import Demand, serves
from scheduler.preempt import Preemptor
from scheduler.roster import Member
from scheduler.timeline import Timeline
from scheduler.types import GpuRequest, Task

MOST_HOLDERS = 8
MOST_ALTERNATIVES = 3


def holders(task: Task, row: int, timeline: Timeline, preemptor: Preemptor) -> tuple[Holder, ...]:
    """Members on the row that hold cards the task could use (any member if it needs no card), largest first."""
    found = []
    for member in timeline.members_on(row):
        milli = _milli_on_useful_cards(task, member, timeline)
        if milli or task.gpu is None:
            may, why = _may_yield(task, member, preemptor)
            known = member.task.estimate_p50_s is not None
            p50, p90 = timeline.member_ends(member) if known else (None, None)
            found.append(Holder(member.task.id, member.task.organisation, milli, p50, p90, may, why))
    return tuple(sorted(found, key=lambda h: (-h.gpu_milli, h.task_id))[:MOST_HOLDERS])


def _milli_on_useful_cards(task: Task, member: Member, timeline: Timeline) -> int:
    row = member.claim.row
    columns, cards = timeline.cells.column_of[row], timeline.cells.cards[row]
    total = 0
    for piece in member.claim.slices:
        column = columns.get(piece.device_id)
        if column is not None and task.gpu is not None and serves(cards[column], task.gpu):
            total += piece.core_milli
    return total


def _may_yield(task: Task, member: Member, preemptor: Preemptor) -> tuple[bool, str]:
    """Whether the member may be asked to give way, and the rule that decides."""
    if member.leaving:
        return True, "leaving"
    same = member.task.organisation == task.organisation
    if not member.task.preemptible and (preemptor.firm or same):
        return False, "not_preemptible"
    victim = preemptor.victim(member.task.id)
    if victim is None:
        return False, "min_runtime"
    if preemptor.may_replace(task, victim):
        return True, "lower_priority" if same else "above_guarantee"
    return False, "priority" if same else "within_guarantee"


def alternatives(demand: Demand, allocator: Allocator) -> tuple[Alternative, ...]:
    """Changed requests that would start now: other models first, then fewer cards."""
    if demand.gpu is None:
        return ()
    found = []
    for gpu in _variants(demand.gpu, allocator):
        column = allocator.column(replace(demand, gpu=gpu))
        row = column.best()
        if row is not None:
            found.append(Alternative(gpu, allocator.cells.nodes[row].id))
        if len(found) == MOST_ALTERNATIVES:
            break
    return tuple(found)


def _variants(gpu: GpuRequest, allocator: Allocator) -> list[GpuRequest]:
    models = sorted({card.model for cards in allocator.cells.shapes for card in cards} - {gpu.model})
    others = [replace(gpu, model=model, any_of=()) for model in models if not (gpu.any_of and gpu.accepts(model))]
    halves = [replace(gpu, count=count) for count in _halves(gpu.count)]
    return (others if gpu.model or gpu.any_of else []) + halves


def _halves(count: int) -> list[int]:
    return [count // 2**n for n in range(1, int(np.log2(count)) + 1)]
