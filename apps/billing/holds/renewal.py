"""Holds of running work follow its ratings: what was used is captured, the next hour is held again."""

from collections.abc import Iterable
from uuid import UUID

from apps.billing.arithmetic import hour_price
from apps.billing.choices import AccountKind, HoldOutcome, HoldReason
from apps.billing.holds.services import end_hold, open_hold, replace_hold
from apps.billing.ledger.services import organisation_account
from apps.billing.metering.covering import covered_now
from apps.billing.models import Hold, MeterSession
from apps.billing.purses.selectors import Backing, backing


def renew_holds(organisation_id: UUID, sessions: Iterable[MeterSession]) -> None:
    """After a rating of `sessions`, under the wallet's lock: hold their next hour, or as much as the wallet has.

    The usage has left the balance, so an unchanged hold already is the next hour's; capturing it to hold the same
    amount again would be two rows that say nothing. A hold is renewed only when its amount has to change. Vouchers
    cover what they can, as at the start. Work that a prepaid order covers now needs no hold.
    """
    available = organisation_account(organisation_id, AccountKind.CASH).available_fen
    latest = {session.workload_id: session for session in sessions}
    backed, prepaid = backing(organisation_id), covered_now(organisation_id)
    for workload_id, session in latest.items():
        hold = open_hold(workload_id)
        if hold is not None:
            others, replicas = backed.without(hold.covered_fen), session.replicas - prepaid.get(session.pk, 0)
            amount, covered = _renew(hold, session, replicas, available + hold.amount_fen, others)
            available += hold.amount_fen - amount
            backed = others.without(-covered)


def _renew(hold: Hold, session: MeterSession, replicas: int, free: int, backed: Backing) -> tuple[int, int]:
    """Fen held of the wallet afterwards, of the `free` ones that there are without this hold, and those covered.

    `replicas`: those that no prepaid order covers.
    """
    if hold.reason == HoldReason.SETTLING:
        return _settled(hold, session)
    wanted = hour_price(session.price_version.rate_fen_per_hour, replicas, session.discount_off)
    covered = min(wanted, backed.free_fen(session.price_version.package)) if backed.purses else 0
    amount = min(wanted - covered, max(free, 0))
    if (amount, covered) != (hold.amount_fen, hold.covered_fen):
        end_hold(hold, HoldOutcome.CAPTURED)
        replace_hold(hold, reason=HoldReason.RUNNING, amount_fen=amount, covered_fen=covered)
    return amount, covered


def _settled(hold: Hold, session: MeterSession) -> tuple[int, int]:
    if not session.settled or _others_unsettled(session):
        return hold.amount_fen, hold.covered_fen
    end_hold(hold, HoldOutcome.CAPTURED)
    return 0, 0


def _others_unsettled(session: MeterSession) -> bool:
    found: bool = MeterSession.objects.filter(workload_id=session.workload_id, settled=False).exists()
    return found
