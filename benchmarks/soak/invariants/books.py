"""Quota, holds and money: each sum is that of its parts, each part belongs to something that ran or lives."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

from django.db.models import Sum

from apps.billing.choices import HoldReason, Resource
from apps.billing.ledger.books import check_books
from apps.billing.models import Account, Charge, Hold, MeterSession
from apps.common.actor import Channel, system_actor
from apps.tenants import tree
from apps.tenants.models import Holding, Quota
from apps.workloads.choices import LIVE, Kind
from apps.workloads.models import Attempt, Workload
from apps.workloads.resources import quota_amounts
from benchmarks.soak.look import Look

MICROSECOND = timedelta(microseconds=1)
# A charge has ten places; whatever a session is cut into adds up to the price of its whole time.
EXACT = Decimal("0.000001")


def quotas_are_sums(look: Look) -> Iterator[str]:
    """What each level has used is what holds it there, and each live workload holds what it asked for."""
    sums: defaultdict[tuple[UUID, UUID | None, int | None, str, str], int] = defaultdict(int)
    by_holder: defaultdict[UUID, dict[tuple[str, str], int]] = defaultdict(dict)
    for row in Holding.objects.all():
        line = row.resource, row.model
        for level in [(None, None), *((one, None) for one in tree.ancestors(row.department_id)), (None, row.user_id)]:
            sums[(row.organisation_id, *level, *line)] += row.amount
        if row.holder_kind == "workload":
            by_holder[row.holder_id][line] = row.amount
    for quota in Quota.objects.all():
        key = quota.organisation_id, quota.department_id, quota.user_id, quota.resource, quota.model
        if quota.used != sums[key]:
            yield f"quota {key} says {quota.used}, its holders have {sums[key]}"
    for workload in Workload.objects.filter(status__in=LIVE):
        asked = _lines(workload)
        if by_holder[workload.pk] != asked:
            yield f"{look.who(workload)} asked for {asked} and holds {by_holder[workload.pk]} of quota"


def _lines(workload: Workload) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for name, amount in quota_amounts(workload.frozen_spec, Kind(workload.kind)).items():
        resource, model = name if isinstance(name, tuple) else (name, "")
        found[str(resource.value), model] += amount
        if isinstance(name, tuple) and model:
            found[str(resource.value), ""] += amount
    return {line: amount for line, amount in found.items() if amount}


def holds_belong_to_what_lives(look: Look) -> Iterator[str]:
    """Each live workload has one open hold; other open holds only settle what has ended."""
    live = set(Workload.objects.filter(status__in=LIVE).values_list("pk", flat=True))
    held: dict[UUID, int] = defaultdict(int)
    for hold in Hold.objects.filter(end__isnull=True):
        held[hold.workload_id] += 1
        if hold.workload_id not in live and hold.reason != HoldReason.SETTLING:
            yield f"hold {hold.pk} ({hold.reason}, {hold.amount_fen} fen) is open, {hold.workload_id} has ended"
    for pk in live:
        if held[pk] != 1:
            yield f"workload {pk} lives and has {held[pk]} open holds"


def the_books_are_right(look: Look) -> Iterator[str]:
    """The platform's own check, and all balances together are nothing."""
    wrong = check_books(system_actor(Channel.TASK))
    if wrong:
        yield f"check_books: {wrong}"
    total = Account.objects.aggregate(total=Sum("balance_fen"))["total"] or 0
    if total:
        yield f"all balances together are {total} fen"


def slices_tile_what_ran(look: Look) -> Iterator[str]:
    """A session begins with its attempt, ends with it, and proves no more than the machine itself has shown."""
    for session in _sessions(look):
        attempt = Attempt.objects.filter(pk=session.pk).first()
        if attempt is None:
            yield f"session {session.pk} has no attempt"
            continue
        if session.opened_at != attempt.started_at:
            yield f"session {session.pk} opened at {session.opened_at}, its attempt at {attempt.started_at}"
        if (session.closed_at is None) != (attempt.ended_at is None):
            yield f"session {session.pk} closed at {session.closed_at}, its attempt ended at {attempt.ended_at}"
        if session.closed_at is None and session.rated_until > session.proven_until:
            yield f"session {session.pk} is rated until {session.rated_until}, proven until {session.proven_until}"
        shown = look.driver.shown_until(session.pk)
        if shown is not None:
            proven = datetime.fromtimestamp(shown, UTC) + timedelta(seconds=1)
            if session.proven_until > proven:
                yield f"session {session.pk} proves {session.proven_until}, its machine showed it last at {proven}"


def _sessions(look: Look) -> list[MeterSession]:
    """What is not settled, and what has been since the last look."""
    rows = MeterSession.objects.filter(resource=Resource.COMPUTE)
    fresh = rows.filter(settled=False) | rows.filter(closed_at__gt=look.now - timedelta(hours=2))
    return list(fresh.select_related("price_version").order_by("pk"))


def charges_are_slices_at_their_price(look: Look) -> Iterator[str]:
    """Charges tile a session from its opening to where it is rated, and add up to time × rate of its price version."""
    sessions = {session.pk: session for session in _sessions(look)}
    charges: defaultdict[UUID, list[Charge]] = defaultdict(list)
    for charge in Charge.objects.filter(session_id__in=sessions).order_by("session_id", "start", "revision"):
        charges[charge.session_id].append(charge)
    for pk, session in sessions.items():
        yield from _wrong(session, charges[pk])


def _wrong(session: MeterSession, charges: list[Charge]) -> Iterator[str]:
    whole = [charge for charge in charges if charge.revision == 0]
    if whole and whole[0].start != session.opened_at:
        yield f"the first charge of session {session.pk} begins at {whole[0].start}, not at {session.opened_at}"
    for before, after in pairwise(whole):
        if before.end != after.start:
            yield f"charges of session {session.pk} leave {before.end} to {after.start} out"
    for charge in whole:
        if charge.price_version_id != session.price_version_id:
            yield f"a charge of session {session.pk} has price version {charge.price_version_id}"
    seconds = sum((charge.seconds for charge in charges), Decimal(0))
    rate = session.price_version.rate_fen_per_hour * session.replicas * (1 - session.discount_off)
    exact = sum((charge.exact_fen for charge in charges), Decimal(0))
    if abs(exact - rate * seconds / 3600) > EXACT:
        yield f"session {session.pk} is charged {exact} fen for {seconds} s at {rate} an hour"
    rated = Decimal((session.rated_until - session.opened_at) // MICROSECOND) / 1_000_000
    credited = any(charge.is_credit for charge in charges)
    if not credited and session.settled and abs(seconds - rated) > EXACT:
        yield f"session {session.pk} is charged for {seconds} s of {rated} s that are rated"
