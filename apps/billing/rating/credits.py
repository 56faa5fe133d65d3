"""Credits for lost work: metered and paid for, but it has to be done again.

A credit is a rating of its own: each slice of the span gets a charge of revision `CREDIT`, which takes back exactly
what its time cost, and the whole fen move from revenue to the wallet and to the vouchers that had paid. So consumption,
pages, exports and the comparison with the ledger include it without further code, and rounding remainders are carried
on.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import CreditCause, TransferKind
from apps.billing.ledger.services import lock_wallet
from apps.billing.models import Account, Charge, MeterSession
from apps.billing.models.rating import CREDIT
from apps.billing.rating.services import Draft, charged, given_back, rate_session, settle
from apps.common.actor import Actor
from apps.common.errors import Conflict


def credit_key(session_id: UUID, cause: CreditCause) -> str:
    """The business key of an attempt's credit; its transfer bears it, for ever."""
    return f"credit:{cause.value}:{session_id}"


def credit_lost(actor: Actor, *, session_id: UUID, since: datetime, cause: CreditCause = CreditCause.PREEMPTION) -> int:
    """Give back the cost of [since, end) of a session that has ended; the whole fen that moved.

    Exactly rate × replicas × time, at the price version that the session was charged by, whatever prices have been set
    since. Time that no rating has charged yet is charged first, in the same transaction: a credit never gives back
    what was not taken, and net + credit is what was charged. Whole fen are rounded like any rating's: what is below
    one fen is carried in the wallet's remainder, so the sum of all that an organisation was charged less all that it
    was credited is never below zero. `since` before the session's begin means all of it, after its end nothing.

    A session is credited once: a repetition returns what was given back then, whatever `since` and `cause` are now. A
    session that was never metered (a free simulated zone, or one that never ran) gives 0. Raises `Conflict` while it is
    still open, or while somebody else is writing it.
    """
    with transaction.atomic():
        found = MeterSession.objects.filter(pk=session_id).values_list("organisation_id", flat=True).first()
        if found is None:
            return 0
        wallet = lock_wallet(found)
        known = _credited(session_id)
        if known is not None:
            return known
        session = _rated(actor, wallet, session_id)
        drafts = _drafts(session, since)
        if not drafts:
            return 0
        run = settle(actor, wallet, drafts, idem=credit_key(session_id, cause), gives_back=TransferKind.CREDIT)
        return -run.amount_fen


def _credited(session_id: UUID) -> int | None:
    rows = Charge.objects.filter(session_id=session_id, revision=CREDIT)
    total = rows.aggregate(fen=Sum("amount_fen"))["fen"]
    return None if total is None else -int(total)


def _rated(actor: Actor, wallet: Account, session_id: UUID) -> MeterSession:
    """The session with all of its time charged."""
    session = _session(session_id)
    if session.closed_at is None:
        raise Conflict(_("It is still being metered."))
    if not session.settled:
        rate_session(actor, wallet, session_id=session_id, until=session.closed_at)
        session = _session(session_id)
    if not session.settled:  # the rating skips what somebody else has locked
        raise Conflict(_("It is still being metered."))
    return session


def _session(session_id: UUID) -> MeterSession:
    found: MeterSession = MeterSession.objects.select_related("price_version__package").get(pk=session_id)
    return found


def _drafts(session: MeterSession, since: datetime) -> list[Draft]:
    """Charges to give back. A slice may reach past an end that became known late; that part was taken back already."""
    end = session.proven_until
    drafts = [given_back(session, each, since, end, CREDIT) for each in charged(session, since=since)]
    return [draft for draft in drafts if draft.start < draft.end]
