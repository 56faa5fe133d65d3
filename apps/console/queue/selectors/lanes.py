"""What each card does in the next hours: until when it is busy, for whom it is kept then, and what fits in between.

The scheduler keeps room on nodes, not on cards; it is drawn on those cards of the node, of a model and in a mode
that will do, that come free first, as the scheduler would take them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from uuid import UUID

import scheduler
from apps.clusters.models import Accelerator, Node
from apps.common.clock import db_now
from apps.console.queue.selectors.focus import Focus, cards, request_of, waiting
from apps.console.queue.selectors.rows import instant
from apps.workloads.explaining.rack import usable
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.queueing import policy
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.reconcile import snapshot
from apps.workloads.reconcile.history import learned
from scheduler.horizon import expected_ends


class Span(StrEnum):
    """What a card does for a while."""

    RUNS = "runs"  # until p50
    MAYBE = "maybe"  # from p50 to p90, or for as long as nobody can tell
    LEAVES = "leaves"  # gives way to another
    KEPT = "kept"
    GAP = "gap"  # free before it is kept for somebody: for whoever is done by then or may be interrupted


@dataclass(frozen=True, slots=True)
class Block:
    """From `start` until `end`; None: beyond what can be told. `workloads`: what runs, or for whom room is kept."""

    span: Span
    start: datetime
    end: datetime | None
    workloads: tuple[Workload, ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    """Neighbouring cards of a node that do the same."""

    node: Node
    first: int
    last: int
    model: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Stay:
    """A placed attempt with its estimated end; None where nobody can tell. `leaves_at`: it was asked to give way."""

    workload: Workload
    end_p50: datetime | None
    end_p90: datetime | None
    leaves_at: datetime | None


@dataclass(slots=True)
class Card:
    """One card as it is drawn: `until` is when it is free for the next one, None when nobody can tell."""

    row: Accelerator
    blocks: list[Block]
    until: datetime | None
    sure: datetime | None  # the same by p90


def nodes(focus: Focus) -> list[UUID]:
    """Nodes with something to draw: those with kept rooms first, in the order of the promises, then the busy ones."""
    promised = [UUID(node) for workload in promises(focus) for node in workload.promised_nodes]
    here = set(cards(focus).order_by().values_list("node_id", flat=True).distinct())
    held = Placement.objects.filter(accelerator__in=cards(focus).values("pk"), released_at__isnull=True)
    busy = held.order_by("node__name").values_list("node_id", flat=True).distinct()
    return [node for node in dict.fromkeys([*promised, *busy]) if node in here]


def promises(focus: Focus) -> list[Workload]:
    """What waits with room kept for it, the oldest promise first."""
    rows = waiting(focus).filter(promised_at__isnull=False).select_related("organisation")
    # Where nobody knows when there is room, a turn is remembered and nothing is kept.
    rows = rows.exclude(explanation__has_key="reserved", explanation__reserved=[])
    return list(rows.order_by("promised_at", "pk"))


def lanes(focus: Focus, chosen: Sequence[UUID]) -> list[Lane]:
    """Of these nodes, in this order. A fixed number of queries."""
    now = db_now()
    known = {node.pk: node for node in Node.objects.filter(pk__in=chosen).select_related("cluster__zone")}
    by_node: defaultdict[UUID, list[Card]] = defaultdict(list)
    stays = _stays(focus, chosen, now)
    for row in cards(focus).filter(node__in=known).order_by("node_id", "index"):
        by_node[row.node_id].append(_card(row, stays.get(row.pk, []), now))
    lesson = learned(now, simulated=focus.simulated)
    for workload in promises(focus):
        takes = lesson.estimate(task_of(workload))
        _keep(workload, by_node, now, timedelta(seconds=takes.p90_s) if takes else None)
    return [lane for pk in chosen if pk in known for lane in _lanes(known[pk], by_node[pk])]


def _stays(focus: Focus, chosen: Sequence[UUID], now: datetime) -> dict[UUID, list[Stay]]:
    """By card, what holds a piece of it."""
    pieces = Placement.objects.filter(node__in=chosen, released_at__isnull=True, accelerator__isnull=False)
    held = list(pieces.order_by("pk").values_list("accelerator_id", "attempt_id"))
    stays = _of_attempts({attempt for _card, attempt in held}, focus, now)
    found: defaultdict[UUID, list[Stay]] = defaultdict(list)
    for card, attempt in held:
        if card is not None and attempt in stays:
            found[card].append(stays[attempt])
    return found


def _of_attempts(wanted: set[UUID], focus: Focus, now: datetime) -> dict[UUID, Stay]:
    rows = Attempt.objects.filter(pk__in=wanted, ended_at__isnull=True)
    here = {row.pk: row for row in rows.select_related("workload__organisation", "preemption")}
    alive = [row for row in snapshot.live(focus.simulated) if row.attempt in here]
    members = snapshot.running_members(
        alive, learned(now, simulated=focus.simulated), now, policy.rules().min_runtime_s
    )
    running = {UUID(member.attempt_id): member for member in members}
    return {pk: _stay(row, running.get(pk), now) for pk, row in here.items()}


def _stay(attempt: Attempt, member: scheduler.Running | None, now: datetime) -> Stay:
    asked = getattr(attempt, "preemption", None)
    leaves_at = asked.leave_at if asked is not None and asked.ended_at is None else None
    if member is None or member.task.estimate_p50_s is None:
        return Stay(attempt.workload, None, None, leaves_at)
    p50, p90 = expected_ends(member.task, member.started_at, now.timestamp())
    return Stay(attempt.workload, instant(p50), instant(p90), leaves_at)


def _card(row: Accelerator, stays: Sequence[Stay], now: datetime) -> Card:
    if not stays:
        return Card(row, [], now, now)
    workloads = tuple(stay.workload for stay in stays)
    leaving = [stay.leaves_at for stay in stays]
    if all(leaving):
        end = max(at for at in leaving if at is not None)
        return Card(row, [Block(Span.LEAVES, now, max(end, now), workloads)], max(end, now), max(end, now))
    p50, p90 = _latest(stay.end_p50 for stay in stays), _latest(stay.end_p90 for stay in stays)
    if p50 is None or p90 is None:
        return Card(row, [Block(Span.MAYBE, now, None, workloads)], None, None)
    blocks = [Block(Span.RUNS, now, p50, workloads)]
    return Card(row, [*blocks, Block(Span.MAYBE, p50, p90)] if p90 > p50 else blocks, p50, p90)


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    found = list(times)
    known = [at for at in found if at is not None]
    return max(known) if known and len(known) == len(found) else None


FAR = timedelta(days=3650)


def _keep(workload: Workload, by_node: dict[UUID, list[Card]], now: datetime, takes: timedelta | None) -> None:
    """Draw the room that is kept for a workload, on each of its nodes; `takes`: its p90 duration, where known."""
    gpu = request_of(workload.spec.get("gpu"))
    if gpu is None:
        return
    start = instant(workload.explanation.get("start_p50"))
    for node in dict.fromkeys(UUID(name) for name in workload.promised_nodes):
        fitting = [card for card in by_node.get(node, ()) if _may_take(card.row, gpu)]
        fitting.sort(key=lambda card: (card.until or now + FAR, card.row.index))
        for card in fitting[: gpu.count]:
            _keep_card(card, workload, start, takes)


def _may_take(card: Accelerator, gpu: scheduler.GpuRequest) -> bool:
    return usable(card, gpu) and card.healthy and card.keeps_its_limits


def _keep_card(card: Card, workload: Workload, start: datetime | None, takes: timedelta | None) -> None:
    """After whatever is there already; a start that nobody can tell is drawn where the card may be free."""
    free, sure = card.until, card.sure
    begins = max([at for at in (start, free) if at is not None], default=None)
    if begins is None:
        return
    if sure is not None and begins > sure:
        card.blocks.append(Block(Span.GAP, sure, begins))
    if card.blocks and card.blocks[-1].span is Span.MAYBE and card.blocks[-1].end is not None:
        card.blocks[-1] = _cut(card.blocks[-1], begins)
    card.blocks = [block for block in card.blocks if block.end is None or block.end > block.start]
    ends_at = begins + takes if takes is not None else None
    card.blocks.append(Block(Span.KEPT, begins, ends_at, (workload,)))
    card.until, card.sure = ends_at, ends_at


def _cut(block: Block, at: datetime) -> Block:
    end = at if block.end is None else min(block.end, at)
    return Block(block.span, block.start, end, block.workloads)


def _lanes(node: Node, found: Sequence[Card]) -> list[Lane]:
    """Neighbours that do the same share a lane; cards with nothing to tell share one as well."""
    made = []
    for (_model, blocks), group in groupby(found, key=lambda card: (card.row.model, tuple(card.blocks))):
        same = list(group)
        made.append(Lane(node, same[0].row.index, same[-1].row.index, same[0].row.model, blocks))
    return made
