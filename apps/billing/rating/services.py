"""From metered time to money: one transaction per organisation, rounded once, each slice charged once.

A rating that is killed leaves nothing behind; a second one waits for the wallet's lock and finds nothing due. What a
run charges is paid by vouchers that fit, then by the wallet (`purses.paying`); what it gives back goes to where it came
from. A run does one of the two, never both.

Sessions that the kernel is writing at this moment are skipped and found next time: the kernel locks a session
first and the wallet later, so waiting for it here could be a deadlock.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet

from apps.billing import policy
from apps.billing.arithmetic import cut_at_hours, largest_remainder, seconds
from apps.billing.choices import AccountKind, Resource, TransferKind
from apps.billing.covering import Covering
from apps.billing.days import billing_day
from apps.billing.holds.renewal import renew_holds
from apps.billing.ledger.services import Posting, lock_wallet, post
from apps.billing.metering.covering import covering_of, occupant, pieces
from apps.billing.metering.selectors import fen_between
from apps.billing.models import Account, Charge, MeterSession, RatingRun, Transfer, UsageSlice
from apps.billing.models.rating import LATE
from apps.billing.purses.funding import Usage
from apps.billing.purses.paying import Funding, fund_return, fund_usage, pay_by_vouchers, write_covers
from apps.billing.rating.bulk import copy_rows
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.money import whole_fen


@dataclass(frozen=True)
class Draft:
    """A charge to write: [start, end) of the slice that begins at `slice_start`; later revisions give it back.

    `covered` replicas are paid by a prepaid order and cost nothing.
    """

    session: MeterSession
    slice_start: datetime
    start: datetime
    end: datetime
    revision: int = 0
    covered: int = 0

    @cached_property
    def exact(self) -> Decimal:
        cost = fen_between(self.session, self.start, self.end, covered=self.covered)
        return -cost if self.revision else cost

    def usage(self, key: int) -> Usage:
        package = self.session.price_version.package
        resource = Resource(package.resource)
        return Usage(key, package.pk, package.gpu_model, resource, self.start, self.end, self.exact)


def rate_due(actor: Actor, *, until: datetime | None = None) -> int:
    """Rate every organisation with time that is due, up to `until` (now); returns how many had any.

    Failures of single organisations do not stop the others and are raised together at the end.
    """
    until = until or db_now()
    rated, failures = 0, []
    for organisation_id in list(_due(until).values_list("organisation_id", flat=True).order_by().distinct()):
        try:
            rated += rate_organisation(actor, organisation_id=organisation_id, until=until) is not None
        except Exception as error:  # an error in one organisation must not stop the others
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{len(failures)} organisations could not be rated", failures)
    return rated


def rate_organisation(actor: Actor, *, organisation_id: UUID, until: datetime) -> RatingRun | None:
    """Charge all of the organisation's due time up to `until`; None when there is none."""
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        return _rate(actor, wallet, _due(until).filter(organisation_id=organisation_id), until)


def rate_session(actor: Actor, wallet: Account, *, session_id: UUID, until: datetime) -> RatingRun | None:
    """Charge one session's due time; None when there is none. The caller has locked the wallet in its transaction."""
    return _rate(actor, wallet, _due(until).filter(pk=session_id), until)


def _rate(actor: Actor, wallet: Account, rows: QuerySet[MeterSession], until: datetime) -> RatingRun | None:
    rows = rows.order_by("opened_at", "id").select_related("price_version__package")
    sessions = list(rows.select_for_update(of=("self",), no_key=True, skip_locked=True))
    if not sessions:
        return None
    covering = covering_of(sessions[0].organisation_id, since=min(session.rated_until for session in sessions))
    targets = {session.pk: _target(session, until, covering) for session in sessions}
    drafts = [draft for session in sessions for draft in _drafts(session, targets[session.pk], covering)]
    if not drafts:
        return None
    backs, uses = [draft for draft in drafts if draft.revision], [draft for draft in drafts if not draft.revision]
    run = [settle(actor, wallet, each) for each in (backs, uses) if each][-1]
    _advance(sessions, targets)
    renew_holds(sessions[0].organisation_id, sessions)
    return run


def _due(until: datetime) -> QuerySet[MeterSession]:
    """Sessions that ended and are not settled, or were rated a while ago."""
    ripe = Q(proven_until__gte=F("rated_until") + policy.RATE_EVERY, rated_until__lte=until - policy.RATE_EVERY)
    rows: QuerySet[MeterSession] = MeterSession.objects.filter(settled=False).filter(Q(closed_at__isnull=False) | ripe)
    return rows


def _drafts(session: MeterSession, target: datetime, covering: Covering) -> list[Draft]:
    return [
        Draft(session, start, start, end, covered=covered)
        for begin, stop, covered in pieces(covering, session, session.rated_until, target)
        for start, end in cut_at_hours(begin, stop)
    ] or _take_back(session)


def _target(session: MeterSession, until: datetime, covering: Covering) -> datetime:
    """How far to rate it: up to where it is proven and where it is certain what prepaid orders cover."""
    return covering.certain_until(occupant(session), session.rated_until, min(session.proven_until, until))


def _take_back(session: MeterSession) -> list[Draft]:
    """What was charged beyond an end that became known later: a revision of each slice that reaches past it."""
    end = session.closed_at
    if end is None or end >= session.rated_until:
        return []
    return [given_back(session, each, end, each.end, LATE) for each in charged(session, since=end)]


def charged(session: MeterSession, *, since: datetime) -> list[Charge]:
    """The first charges of the session's slices that reach past `since`, in their order."""
    rows = Charge.objects.filter(session_id=session.pk, revision=0, end__gt=since)
    return list(rows.order_by("slice_start"))


def given_back(session: MeterSession, first: Charge, since: datetime, until: datetime, revision: int) -> Draft:
    """A draft that gives back [since, until) of a slice as it was charged, covered or not."""
    start, end = max(first.start, since), min(first.end, until)
    return Draft(session, first.slice_start, start, end, revision, first.covered)


def settle(
    actor: Actor,
    wallet: Account,
    drafts: Sequence[Draft],
    *,
    idem: str = "",
    gives_back: TransferKind = TransferKind.CORRECTION,
) -> RatingRun:
    """Round once: move the whole fen and carry the rest to the next run. The caller has locked the wallet.

    All drafts charge, or all of them give back; `gives_back` is the kind of the transfers that do. `idem`: the key of
    the wallet's transfer, if not the run's own.
    """
    organisation_id = drafts[0].session.organisation_id
    former = RatingRun.objects.filter(organisation_id=organisation_id).order_by("-number").first()
    number = former.number + 1 if former else 1
    carried_in = former.carried_out if former else Decimal(0)
    exact = sum((draft.exact for draft in drafts), Decimal(0))
    amount = whole_fen(carried_in + exact)
    funding = _funding(organisation_id, drafts, amount)
    idem = idem or f"rating:{organisation_id}:{number}"
    run: RatingRun = RatingRun.objects.create(
        organisation_id=organisation_id,
        number=number,
        carried_in=carried_in,
        exact_fen=exact,
        amount_fen=amount,
        voucher_fen=funding.total_fen,
        carried_out=carried_in + exact - amount,
        transfer=_transfer(actor, wallet, amount - funding.total_fen, idem, gives_back),
    )
    pay_by_vouchers(actor, run, funding, idem=idem, gives_back=gives_back)
    _write_slices(drafts)
    write_covers(_write_charges(run, drafts, funding), funding)
    return run


def _funding(organisation_id: UUID, drafts: Sequence[Draft], amount: int) -> Funding:
    usages = [draft.usage(key) for key, draft in enumerate(drafts)]
    if drafts[0].revision == 0:
        return fund_usage(organisation_id, usages, amount)
    return fund_return(usages, _first_charges(drafts), amount)


def _first_charges(drafts: Sequence[Draft]) -> list[Charge]:
    """What each draft's slice was charged when it was used."""
    sessions = {draft.session.pk for draft in drafts}
    rows = Charge.objects.filter(session_id__in=sessions, slice_start__in=[draft.slice_start for draft in drafts])
    first = {(row.session_id, row.slice_start): row for row in rows.filter(revision=0)}
    return [first[draft.session.pk, draft.slice_start] for draft in drafts]


def _transfer(actor: Actor, wallet: Account, amount: int, idem: str, gives_back: TransferKind) -> Transfer | None:
    """From the wallet to revenue, or back what is given back; None for less than a fen."""
    if amount == 0:
        return None
    revenue = Account.objects.get(organisation=wallet.organisation_id, kind=AccountKind.REVENUE)
    used = amount > 0
    return post(
        actor,
        posting=Posting(
            debit=wallet if used else revenue,
            credit=revenue if used else wallet,
            amount_fen=abs(amount),
            kind=TransferKind.USAGE if used else gives_back,
            idem=idem,
        ),
    )


def _write_slices(drafts: Iterable[Draft]) -> None:
    copy_rows(
        UsageSlice._meta.db_table,
        (
            {
                "session_id": draft.session.pk,
                "organisation_id": draft.session.organisation_id,
                "start": draft.start,
                "end": draft.end,
                "prev_end": None if draft.start == draft.session.opened_at else draft.start,
            }
            for draft in drafts
            if not draft.revision
        ),
    )


def _write_charges(run: RatingRun, drafts: Sequence[Draft], funding: Funding) -> list[Charge]:
    """The charges in the order of `drafts` if vouchers pay for any of them; otherwise nobody needs them."""
    amounts = largest_remainder([draft.exact for draft in drafts], run.amount_fen)
    covered = funding.by_piece()
    parts = zip(range(len(drafts)), drafts, amounts, strict=True)
    rows = (_charge(run, draft, amount, covered.get(key, Decimal(0))) for key, draft, amount in parts)
    copy_rows(Charge._meta.db_table, rows)
    if not funding.parts:
        return []
    written = {(row.session_id, row.slice_start): row for row in Charge.objects.filter(run=run)}
    return [written[draft.session.pk, draft.slice_start] for draft in drafts]


def _charge(run: RatingRun, draft: Draft, amount_fen: int, voucher_exact: Decimal) -> dict[str, object]:
    # A slice lies within one UTC hour, and the billing zone is whole hours from UTC: it has one day and one period.
    day = billing_day(draft.slice_start)
    length = seconds(draft.end - draft.start)
    return {
        "run_id": run.pk,
        "organisation_id": run.organisation_id,
        "session_id": draft.session.pk,
        "slice_start": draft.slice_start,
        "start": draft.start,
        "end": draft.end,
        "revision": draft.revision,
        "period": f"{day:%Y-%m}",
        "day": day,
        "price_version_id": draft.session.price_version_id,
        "replicas": draft.session.replicas,
        "covered": draft.covered,
        "rate": draft.session.price_version.rate_fen_per_hour,
        "discount_off": draft.session.discount_off,
        "seconds": -length if draft.revision else length,
        "exact_fen": draft.exact,
        "voucher_exact": voucher_exact,
        "amount_fen": amount_fen,
    }


def _advance(sessions: Sequence[MeterSession], targets: Mapping[UUID, datetime]) -> None:
    for session in sessions:
        took_back = session.closed_at is not None and session.closed_at < session.rated_until
        session.rated_until = session.proven_until if took_back else max(session.rated_until, targets[session.pk])
        session.settled = session.closed_at == session.rated_until
    MeterSession.objects.bulk_update(sessions, ["rated_until", "settled"])
