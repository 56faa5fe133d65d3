"""Find organisations whose money runs out, move them through the arrears states, and set their terms."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from apps.audit.services import Target, record
from apps.billing.arrears import states
from apps.billing.arrears.selectors import organisations_to_assess, terms_of
from apps.billing.arrears.settings import check_grace, check_retention
from apps.billing.choices import ArrearsStatus
from apps.billing.ledger.services import lock_wallet
from apps.billing.metering.selectors import burn_fen_per_hour
from apps.billing.models import ArrearsState
from apps.billing.purses.selectors import funds_with_vouchers
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.tenants.models import Organisation

IN_ARREARS = "SELECT 1 FROM billing_arrearsstate WHERE organisation_id = %s AND status <> %s"


@dataclass(frozen=True, slots=True)
class ArrearsChange:
    organisation_id: UUID
    before: ArrearsStatus
    after: ArrearsStatus


def arrears_sweep(actor: Actor, *, now: datetime | None = None) -> list[ArrearsChange]:
    """Assess every organisation that runs something, owes something or is in arrears; return what changed."""
    now = now or db_now()
    changes = [reassess(actor, organisation_id=each, now=now) for each in organisations_to_assess()]
    return [change for change in changes if change is not None]


def reassess(actor: Actor, *, organisation_id: UUID, now: datetime) -> ArrearsChange | None:
    """Move one organisation at most one step towards its due state, or send the next notice of its release.

    Under the wallet's lock, so that a top-up which commits at this moment is either seen or assesses after us.
    """
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        state = _state(organisation_id)
        terms = terms_of(state)
        position = states.Position(
            funds_with_vouchers(organisation_id, wallet.funds_fen), burn_fen_per_hour(organisation_id)
        )
        to = states.due_status(state, position, now, terms)
        if to is None:
            states.note_calm(state, position, now)
            days = states.due_announcement(state, now)
            if days is not None:
                states.announce(state, days, position=position, now=now)
            return None
        if not states.move(actor, state, to, position=position, now=now, terms=terms):
            return None
        return ArrearsChange(organisation_id, ArrearsStatus(state.status), to)


def relieve(actor: Actor, *, organisation_id: UUID) -> ArrearsChange | None:
    """Reassess an organisation in arrears as soon as money has come in, in the transaction of that credit.

    An organisation in the normal state can only be better off now, so it is left alone. The credit holds the wallet's
    lock, so a sweep that moves the organisation at this moment is either seen here or sees the money.
    """
    with connection.cursor() as cursor:  # every payment passes here; composing this one would take longer than asking
        cursor.execute(IN_ARREARS, [organisation_id, ArrearsStatus.NORMAL])
        if cursor.fetchone() is None:
            return None
    return reassess(actor, organisation_id=organisation_id, now=db_now())


def set_arrears_terms(
    actor: Actor, *, organisation_id: UUID, grace_minutes: int | None, retention_days: int | None
) -> None:
    """Set how long work goes on without money and how long data is kept after that; None means the platform's terms.

    Terms count from the beginning of the present state, so a longer grace also helps an organisation that is in it now.
    An announced release is never brought forward; a longer retention postpones it. Raises `Invalid` with the field.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    if grace_minutes is not None:
        check_grace(grace_minutes)
    if retention_days is not None:
        check_retention(retention_days)
    organisation = Organisation.objects.filter(pk=organisation_id).first()
    if organisation is None:
        raise NotFound
    with transaction.atomic():
        lock_wallet(organisation_id)
        state = _state(organisation_id)
        before = {"grace_minutes": state.grace_minutes, "retention_days": state.retention_days}
        after = {"grace_minutes": grace_minutes, "retention_days": retention_days}
        if before == after:
            return
        ArrearsState.objects.filter(pk=state.pk).update(**after)
        _put_off(state, retention_days)
        record(
            actor,
            action="billing.arrears_terms",
            target=Target("organisation", str(organisation_id), organisation.name),
            organisation_id=organisation_id,
            before=before,
            after=after,
        )


def _put_off(state: ArrearsState, retention_days: int | None) -> None:
    """Postpone an announced release by as many days as the retention has grown."""
    former = terms_of(state).retention
    state.retention_days = retention_days
    more = terms_of(state).retention - former
    if state.release_at is not None and more.total_seconds() > 0:
        ArrearsState.objects.filter(pk=state.pk).update(release_at=state.release_at + more)


def _state(organisation_id: UUID) -> ArrearsState:
    """The organisation's row, created on first use; the wallet's lock prevents two callers from creating it."""
    rows = ArrearsState.objects.select_related("organisation")
    found = rows.filter(pk=organisation_id).first()
    if found is None:
        ArrearsState.objects.create(organisation_id=organisation_id)
        found = rows.get(pk=organisation_id)
    return found
