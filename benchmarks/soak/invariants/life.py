"""Attempts, placements and stubs: each has its counterpart, statuses move as declared, silence ends what is held."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Q

from apps.billing.arrears.selectors import suspended_organisation_ids
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState, Hold
from apps.tenants.models import Holding
from apps.workloads import states
from apps.workloads.choices import LIVE, PLACED, TERMINAL, Status
from apps.workloads.hardware.policy import rules as silence_rules
from apps.workloads.models import Attempt, Event, Member, Placement, Preemption, Workload
from apps.workloads.programs import with_program_on
from apps.workloads.queueing.policy import rules
from benchmarks.soak.look import Look
from benchmarks.soak.room import WHOLE, Card, Machine


def statuses_move_as_declared(look: Look) -> Iterator[str]:
    """The events of each workload, in order, are a walk along `states.TRANSITIONS` that ends where the row stands."""
    last = look.memory.last_status
    rows = Event.objects.filter(kind="status", pk__gt=look.memory.last_event).order_by("pk")
    for number, workload, status in rows.values_list("pk", "workload_id", "status"):
        to, before = Status(status), last.get(workload)
        if before is None and to is not Status.QUEUED:
            yield f"workload {workload} began as {to}"
        elif before is not None and to not in states.TRANSITIONS[before]:
            yield f"workload {workload} went from {before} to {to}"
        last[workload] = to
        look.memory.last_event = number
    here = dict(Workload.objects.filter(status__in=LIVE).values_list("pk", "status"))
    for pk, status in here.items():
        if last.get(pk) != status:
            yield f"workload {pk} is {status}, its events say {last.get(pk)}"
    look.memory.last_status = {pk: status for pk, status in last.items() if status not in TERMINAL}


def nothing_is_orphaned(look: Look) -> Iterator[str]:
    """What runs has one attempt with its placements; what has ended has nothing."""
    live = Attempt.objects.filter(ended_at__isnull=True).select_related("workload", "node")
    for attempt in live.exclude(workload__status__in=PLACED):
        yield f"attempt {attempt.pk} on {attempt.node.name} is open, its workload is {attempt.workload.status}"
    for attempt in live.annotate(held=Count("placements", filter=Q(placements__released_at__isnull=True))).filter(
        held=0
    ):
        yield f"attempt {attempt.pk} of {look.who(attempt.workload)} holds nothing"
    placed = Workload.objects.filter(status__in=PLACED)
    for workload in placed.exclude(attempts__ended_at__isnull=True):
        yield f"{look.who(workload)} has no open attempt"
    for piece in Placement.objects.filter(released_at__isnull=True, attempt__ended_at__isnull=False):
        yield f"placement {piece.pk} on node {piece.node_id} is held by attempt {piece.attempt_id}, which has ended"
    for notice in Preemption.objects.filter(ended_at__isnull=True, attempt__ended_at__isnull=False):
        yield f"the notice to attempt {notice.attempt_id} is open although it has ended"
    yield from _left_behind(look)


def _left_behind(look: Look) -> Iterator[str]:
    ended = Workload.objects.filter(status__in=TERMINAL)
    for holding in Holding.objects.filter(holder_kind="workload", holder_id__in=ended.values("pk")):
        yield f"workload {holding.holder_id} has ended and still holds {holding.amount} {holding.resource} of quota"
    open_holds = Hold.objects.filter(end__isnull=True, at__lt=look.now - timedelta(hours=1))
    for hold in open_holds.filter(workload_id__in=ended.values("pk")):
        yield f"workload {hold.workload_id} has ended and still holds {hold.amount_fen} fen since {hold.at:%m-%d %H:%M}"


def no_slice_is_handed_out_twice(look: Look) -> Iterator[str]:
    """On no machine is more CPU and memory held than it has, on no card more than is there or the same slice twice."""
    for machine in look.machines:
        if machine.cpu_free < 0 or machine.memory_free < 0:
            yield f"more is held than there is: {machine.free_words()}"
        for card in machine.cards.values():
            wrong = _overlap(card)
            if wrong:
                yield f"card {card.row.index} ({card.row.model}, {card.row.mode}) of {machine.node.name}: {wrong}"


def _overlap(card: Card) -> str:
    if any(piece.exclusive for piece in card.open) and len(card.open) > 1:
        return f"held whole and by {len(card.open) - 1} others"
    if any(times > 1 for times in card.mig_slices().values()):
        return f"partitions overlap: {[(p.mig_profile, p.mig_start) for p in card.open]}"
    if card.core_milli > max(WHOLE, card.row.share_milli) or card.memory_mib > card.row.memory_mib:
        return f"{card.core_milli} milli-cards and {card.memory_mib} MiB are held"
    if card.row.mode == "shared" and len({piece.organisation_id for piece in card.open}) > 1:
        return "shared by two organisations"
    return ""


def stubs_are_accounted_for(look: Look) -> Iterator[str]:
    """Whatever runs on a machine that answers is an open attempt on that machine, or a member of one."""
    single = Attempt.objects.filter(ended_at__isnull=True, workload__member_count=1)
    members = Member.objects.filter(attempt__ended_at__isnull=True)
    accounted = {str(pk): node for rows in (single, members) for pk, node in rows.values_list("pk", "node__name")}
    for ref, stub in look.driver.stubs.items():
        if stub.node in look.driver.silent or stub.ended or stub.stopped or stub.lost:
            continue
        if accounted.get(ref) != stub.node:
            yield f"{ref} runs on {stub.node}, and no open attempt accounts for it"


def silent_machines_are_let_go(look: Look) -> Iterator[str]:
    """Nothing is accounted to a machine that has said nothing for as long as the platform gives it, and a minute."""
    after = silence_rules().lost_after
    if after is None:
        return
    for machine in look.machines:
        quiet = look.now - machine.node.last_seen_at
        if quiet > after + timedelta(minutes=1) and machine.open:
            held = len({piece.attempt_id for piece in machine.open})
            yield f"{held} attempts are accounted to {machine.node.name}, silent for {quiet}"


def without_money_nothing_runs_on(look: Look) -> Iterator[str]:
    """Of a suspended organisation nothing runs for longer than saving takes; silent machines aside."""
    overdue = look.now - rules().save - timedelta(minutes=20)
    for state in ArrearsState.objects.filter(
        organisation_id__in=suspended_organisation_ids(), since__lt=overdue, status=ArrearsStatus.SUSPENDED
    ):
        running = Workload.objects.filter(organisation_id=state.organisation_id, status__in=LIVE)
        for workload in running:
            if not _on_silent(look.machines, workload):
                yield f"{look.who(workload)} goes on, its organisation is suspended since {state.since:%m-%d %H:%M}"


def _on_silent(machines: list[Machine], workload: Workload) -> bool:
    quiet = {machine.node.pk for machine in machines if not machine.takes_work}
    return Attempt.objects.filter(with_program_on(quiet), workload=workload, ended_at__isnull=True).exists()
