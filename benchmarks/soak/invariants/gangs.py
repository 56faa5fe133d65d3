"""Gangs: all members hold, begin and end together, and what is charged is charged for each of them."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.billing.choices import HoldReason, Resource
from apps.billing.models import Hold, MeterSession
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import ExitReason
from apps.workloads.models import Attempt, Member, Placement, Workload
from benchmarks.soak.look import Look
from benchmarks.soak.machines import Stub
from benchmarks.soak.room import fewest_members

# What the clock of the soak moves by while the platform looks at one gang.
AT_ONCE = timedelta(seconds=1)
# Where a machine was heard again just before, the next turn of all loops sees what has ended on it.
ENDS_WITHIN = timedelta(minutes=35)
# A run fails when its machine has lost it so often.
LOST_OFTEN = 3


def gangs_hold_all_or_nothing(look: Look) -> Iterator[str]:
    """A live attempt of a gang has each rank once, and each holds what was asked for where it is; an ended one nothing.

    All its members are on machines of one zone, logical cluster and models of card.
    """
    kinds = {machine.node.pk: machine.kind for machine in look.machines}
    for attempt in _live_gangs():
        ranks, pieces = _members(attempt), _pieces(attempt)
        wanted = list(range(attempt.member_count))
        if [member.rank for member in ranks] != wanted or sorted(pieces) != wanted:
            yield f"{_who(look, attempt)} has ranks {[m.rank for m in ranks]}, and placements for {sorted(pieces)}"
            continue
        for member in ranks:
            wrong = _held_wrongly(attempt.workload, pieces[member.rank], member)
            if wrong:
                yield f"rank {member.rank} of {_who(look, attempt)} {wrong}"
        if len({kinds[member.node_id] for member in ranks}) > 1:
            yield f"{_who(look, attempt)} spans machines of different kinds: {[m.node.name for m in ranks]}"
        look.memory.counted["gangs_on_several_machines"] += len({member.node_id for member in ranks}) > 1
        look.memory.counted["gangs_seen_live"] += 1
    for member in Member.objects.filter(attempt__ended_at__isnull=False, ended_at__isnull=True):
        yield f"rank {member.rank} of attempt {member.attempt_id} has not ended, its attempt has"


def elastic_gangs_keep_to_their_range(look: Look) -> Iterator[str]:
    """An attempt has as many members as its owner will do with, at most all, and all where it is not elastic."""
    for attempt in _live_gangs():
        spec, count = attempt.workload.frozen_spec, len(_members(attempt))
        least = fewest_members(attempt.workload)
        if not least <= count <= spec.members or count != attempt.member_count:
            yield f"{_who(look, attempt)} has {count} members, asked for {least} to {spec.members}"
        look.memory.counted["elastic_gangs_that_run_small"] += count < spec.members


def _held_wrongly(workload: Workload, pieces: list[Placement], member: Member) -> str:
    spec = workload.frozen_spec
    cpu, memory = sum(piece.cpu_milli for piece in pieces), sum(piece.memory_mib for piece in pieces)
    cards = [piece.accelerator_id for piece in pieces if piece.accelerator_id is not None]
    if any(piece.node_id != member.node_id for piece in pieces):
        return f"is on {member.node.name}, and holds room elsewhere"
    if (cpu, memory) != (spec.cpu_milli, spec.memory_mib):
        return f"holds {cpu} milli-cores and {memory} MiB"
    if len(cards) != (spec.gpu.count if spec.gpu else 0):
        return f"holds {len(cards)} slices of cards"
    return ""


def members_begin_together(look: Look) -> Iterator[str]:
    """As the machines saw it: none is let past the barrier before all are ready, and then all are at once."""
    for group, stubs in _groups(look).items():
        attempt = Attempt.objects.filter(pk=group).select_related("workload").first()
        begun = [stub.released_s for stub in stubs if stub.released_s is not None]
        if attempt is None or not begun:
            continue
        ready = max(stub.ready_s for stub in stubs)
        if min(begun) < ready or len(stubs) < attempt.member_count:
            yield f"{_who(look, attempt)} began {ready - min(begun):.0f} s before its last member was ready"
        if len(begun) < len(stubs) or max(begun) - min(begun) > AT_ONCE.total_seconds():
            yield f"of {_who(look, attempt)} {len(begun)} of {len(stubs)} members were let begin, at {begun}"


def gangs_are_metered_from_the_barrier(look: Look) -> Iterator[str]:
    """An attempt starts with the last of its members, its session is open until the last end, for each."""
    for attempt in _recent_gangs(look):
        starts = [member.started_at for member in _members(attempt)]
        session = MeterSession.objects.filter(pk=attempt.pk, resource=Resource.COMPUTE).first()
        if attempt.started_at is None:
            if session is not None:
                yield f"{_who(look, attempt)} never ran, and is metered since {session.opened_at}"
            continue
        latest = max((at for at in starts if at is not None), default=None)
        if latest is None or None in starts or abs(attempt.started_at - latest) > AT_ONCE:
            yield f"{_who(look, attempt)} started at {attempt.started_at}, its members at {starts}"
        opened = session.opened_at if session is not None else None
        if opened != attempt.started_at:
            yield f"{_who(look, attempt)} started at {attempt.started_at}, its session opened at {opened}"
        elif session is not None and session.replicas != attempt.member_count:
            yield f"{_who(look, attempt)} is charged for {session.replicas} members"
        elif session is not None and session.closed_at is not None:
            yield from _wrong_length(look, attempt, session.closed_at - session.opened_at)


def _wrong_length(look: Look, attempt: Attempt, metered: timedelta) -> Iterator[str]:
    """Where all members ended by themselves, it is metered for as long as its longest ran."""
    stubs = [stub for stub in look.driver.stubs.values() if stub.group == attempt.pk]
    if len(stubs) < attempt.member_count or attempt.given_up_at is not None:
        return
    longest = timedelta(seconds=max(stub.stub_s for stub in stubs))
    if not any(stub.lost or stub.stopped for stub in stubs) and abs(metered - longest) > AT_ONCE:
        yield f"{_who(look, attempt)} is metered for {metered}, its longest member ran for {longest}"


def holds_cover_all_members(look: Look) -> Iterator[str]:
    """Before its start, an hour of all members is set aside."""
    waiting = {one.pk: one for one in look.waiting if one.member_count > 1}
    for hold in Hold.objects.filter(end__isnull=True, reason=HoldReason.START, workload_id__in=waiting):
        workload = waiting[hold.workload_id]
        hour = workload.price_version.rate_fen_per_hour * workload.member_count
        if hold.amount_fen + hold.covered_fen < hour:
            yield f"{look.who(workload)} costs {hour} fen an hour, {hold.amount_fen + hold.covered_fen} are set aside"


def one_bad_end_ends_all(look: Look) -> Iterator[str]:
    """Soon after a member has ended badly its attempt has ended, unless the machine of one says nothing.

    Where a machine is declared lost, the others alone have to answer.
    """
    before, look.memory.bad_since = look.memory.bad_since, {}
    for attempt in _live_gangs():
        members = _members(attempt)
        silent = [member.node for member in members if member.node.name in look.driver.silent]
        given_up = attempt.given_up_at is not None and look.now - attempt.given_up_at > ENDS_WITHIN
        if given_up and all(node.lost_at is not None for node in silent):
            yield f"{_who(look, attempt)} was given up at {attempt.given_up_at}, and lives"
        if silent:
            continue
        for member in members:
            stub = look.driver.stubs.get(str(member.pk))
            if not _ended_badly(member) and (stub is None or not stub.is_bad(look.now.timestamp())):
                continue
            since = look.memory.bad_since[member.pk] = before.get(member.pk, look.now)
            if look.now - since > ENDS_WITHIN:
                yield f"rank {member.rank} of {_who(look, attempt)} has ended badly before {since:%H:%M}, others go on"


def _ended_badly(member: Member) -> bool:
    return member.exit_reason not in ("", ExitReason.EXITED) or bool(member.exit_code)


def lost_work_is_queued_again(look: Look) -> Iterator[str]:
    """What its machine lost fails only where that has happened often; it waits, runs again, or has ended otherwise."""
    lost = Attempt.objects.filter(workload=OuterRef("pk"), exit_reason=ExitReason.LOST)
    failed = Workload.objects.filter(Exists(lost), status=Status.FAILED, reason=Reason.LOST)
    for workload in failed.filter(ended_at__gt=look.now - timedelta(hours=2)).order_by("pk"):
        times = workload.attempts.filter(exit_reason=ExitReason.LOST).count()
        if times < LOST_OFTEN:
            yield f"{look.who(workload)} failed after its machine lost it {times} times"


def _live_gangs() -> list[Attempt]:
    rows = Attempt.objects.filter(ended_at__isnull=True, workload__member_count__gt=1)
    return list(rows.select_related("workload").order_by("pk"))


def _recent_gangs(look: Look) -> list[Attempt]:
    """What lives, and what has ended since the last look."""
    rows = Attempt.objects.filter(workload__member_count__gt=1, ended_at__gt=look.now - timedelta(hours=2))
    return [*_live_gangs(), *rows.select_related("workload").order_by("pk")]


def _members(attempt: Attempt) -> list[Member]:
    return list(Member.objects.filter(attempt=attempt).select_related("node").order_by("rank"))


def _pieces(attempt: Attempt) -> dict[int, list[Placement]]:
    found: defaultdict[int, list[Placement]] = defaultdict(list)
    for piece in Placement.objects.filter(attempt=attempt, released_at__isnull=True).order_by("pk"):
        found[piece.rank].append(piece)
    return found


def _groups(look: Look) -> dict[UUID, list[Stub]]:
    found: defaultdict[UUID, list[Stub]] = defaultdict(list)
    for stub in look.driver.stubs.values():
        if stub.group is not None:
            found[stub.group].append(stub)
    return found


def _who(look: Look, attempt: Attempt) -> str:
    return f"attempt {attempt.number} of {look.who(attempt.workload)}"
