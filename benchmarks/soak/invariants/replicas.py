"""Sets of replicas: as many as wanted, what ends is replaced soon, each second is charged once, nothing is left."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.billing.choices import Resource
from apps.billing.models import Charge, MeterSession, SpendingCap
from apps.tenants.models import Holding, Quota
from apps.workloads.choices import LIVE, TERMINAL, Desired, Status
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.programs import with_program_on
from benchmarks.soak.look import Look

# Longer than a replica may pause after an end of its own.
LONGEST_PAUSE = timedelta(minutes=6)
# For this long a replica may wait although there is room, as while room is being made for somebody larger.
BESIDE_ROOM = timedelta(hours=2)
# Asked to end, it has ended by the next turn of all loops, with the time for saving.
ENDS_WITHIN = timedelta(minutes=45)
EXACT = Decimal("0.000001")
MICROSECOND = timedelta(microseconds=1)


def sets_have_as_many_as_wanted(look: Look) -> Iterator[str]:
    """At rest the replicas that nobody asked to end are as many as wanted; those that were asked leave soon."""
    wanted = Q(replicas__status__in=LIVE, replicas__desired=Desired.RUNNING)
    for found in _open_sets().filter(desired=Desired.RUNNING).annotate(running=Count("replicas", filter=wanted)):
        look.memory.counted["sets_seen"] += 1
        if found.running != found.wanted:
            yield f"set {found.pk} wants {found.wanted} replicas and has {found.running}"
    leaving = Workload.objects.filter(replica_set__isnull=False, desired=Desired.STOPPED, status__in=LIVE)
    for replica in leaving.filter(status_since__lt=look.now - ENDS_WITHIN).exclude(pk__in=_unseen(look)):
        yield f"{look.who(replica)} of set {replica.replica_set_id} was asked to end and lives"


def _open_sets() -> QuerySet[ReplicaSet]:
    rows: QuerySet[ReplicaSet] = ReplicaSet.objects.filter(ended_at__isnull=True).order_by("pk")
    return rows


def _unseen(look: Look) -> set[UUID]:
    """Workloads on machines that take no work, whose ends nobody can see yet."""
    quiet = {machine.node.pk for machine in look.machines if not machine.takes_work}
    rows = Attempt.objects.filter(with_program_on(quiet), ended_at__isnull=True)
    return set(rows.values_list("workload_id", flat=True))


def replicas_are_replaced_soon(look: Look) -> Iterator[str]:
    """One that nobody asked to end goes on after each end: it pauses for minutes, and then no room is left idle."""
    gone = Workload.objects.filter(replica_set__isnull=False, desired=Desired.RUNNING, status__in=TERMINAL)
    for replica in gone.filter(ended_at__gt=look.now - timedelta(hours=2)):
        yield f"{look.who(replica)} has ended for good, and nobody asked for it"
    queued = Workload.objects.filter(replica_set__isnull=False, status=Status.QUEUED)
    for replica in queued.filter(queued_at__gt=look.now + LONGEST_PAUSE):
        yield f"{look.who(replica)} pauses until {replica.queued_at}"
    before, look.memory.beside_room_since = look.memory.beside_room_since, {}
    for replica in look.waiting:
        if replica.replica_set_id is not None and _has_free_room(look, replica):
            since = look.memory.beside_room_since[replica.pk] = before.get(replica.pk, look.now)
            if look.now - since > BESIDE_ROOM:
                yield f"{look.who(replica)} waits beside room since {since:%m-%d %H:%M}"


def _has_free_room(look: Look, replica: Workload) -> bool:
    """Room that is promised to nobody else, of an organisation that is within its limits."""
    limits = Quota.objects.filter(organisation_id=replica.organisation_id, limit__isnull=False)
    if any(row.used > (row.limit or 0) for row in limits):
        return False
    kept = {node for other in look.waiting if other.pk != replica.pk for node in other.promised_nodes}
    return any(str(one.node.pk) not in kept and one.has_room_for(replica) for one in look.machines)


def sets_are_charged_for_their_replicas(look: Look) -> Iterator[str]:
    """Of a set that has ended, the charges add up to the time that each try ran, at the price of each replica."""
    for found in ReplicaSet.objects.filter(ended_at__gt=look.now - timedelta(hours=6)).order_by("pk"):
        sessions = MeterSession.objects.filter(set_id=found.pk, resource=Resource.COMPUTE)
        tries = Attempt.objects.filter(workload__replica_set=found, started_at__isnull=False)
        if set(sessions.values_list("pk", flat=True)) != set(tries.values_list("pk", flat=True)):
            yield f"set {found.pk} has {sessions.count()} sessions, its replicas ran {tries.count()} times"
        if found.pk in look.memory.sets_charged or sessions.filter(settled=False).exists():
            continue
        look.memory.sets_charged.add(found.pk)
        look.memory.counted["sets_charged"] += 1
        charges = Charge.objects.filter(session__in=sessions)  # and what lost work was credited beside it
        charged = sum((charge.exact_fen for charge in charges if not charge.is_credit), Decimal(0))
        prices = {one.pk: one.price_version.rate_fen_per_hour * (1 - one.discount_off) for one in sessions}
        due = sum((prices[one.pk] * _hours(one) for one in tries if one.pk in prices), Decimal(0))
        if abs(charged - due) > EXACT * max(1, len(prices)):
            yield f"set {found.pk} is charged {charged} fen, its replicas ran for {due}"


def _hours(attempt: Attempt) -> Decimal:
    ran = ((attempt.ended_at or attempt.started_at) - attempt.started_at) // MICROSECOND  # type: ignore[operator]
    return Decimal(ran) / 1_000_000 / 3600


def nothing_is_left_of_a_set(look: Look) -> Iterator[str]:
    """What nobody wants any more ends with its last replica; then it holds no quota and no cap."""
    over = ReplicaSet.objects.filter(desired=Desired.STOPPED)
    for found in over.filter(ended_at__isnull=True).exclude(replicas__status__in=LIVE):
        yield f"set {found.pk} has no replica left, and has not ended"
    ended = list(over.filter(ended_at__isnull=False).values_list("pk", flat=True))
    for replica in Workload.objects.filter(replica_set__in=ended, status__in=LIVE):
        yield f"{look.who(replica)} lives, its set has ended"
    replicas = Workload.objects.filter(replica_set__in=ended).values("pk")
    for holding in Holding.objects.filter(holder_id__in=replicas):
        yield f"a replica of a set that has ended holds {holding.amount} {holding.resource} of quota"
    for cap in SpendingCap.objects.filter(workload_id__in=ended, closed_at__isnull=True):
        yield f"the cap of set {cap.workload_id} is open, the set has ended"
