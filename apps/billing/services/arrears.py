"""Finding whose money runs out, and moving them along."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.billing import states
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.billing.selectors.arrears import organisations_to_assess
from apps.billing.selectors.metering import burn_fen_per_hour
from apps.billing.services.ledger import lock_wallet
from apps.common.actor import Actor
from apps.common.clock import db_now


@dataclass(frozen=True, slots=True)
class ArrearsChange:
    organisation_id: UUID
    before: ArrearsStatus
    after: ArrearsStatus


def arrears_sweep(actor: Actor, *, now: datetime | None = None) -> list[ArrearsChange]:
    """Assess every organisation that runs something, owes something or is not in order; what has changed."""
    now = now or db_now()
    changes = [reassess(actor, organisation_id=each, now=now) for each in organisations_to_assess()]
    return [change for change in changes if change is not None]


def reassess(actor: Actor, *, organisation_id: UUID, now: datetime) -> ArrearsChange | None:
    """Move one organisation to where it belongs, at most one step.

    Under the wallet's lock, so that a top-up which commits at this moment is either seen or assesses after us.
    """
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        state = _state(organisation_id)
        position = states.Position(wallet.funds_fen, burn_fen_per_hour(organisation_id))
        to = states.due_status(state, position, now)
        if to is None or not states.move(actor, state, to, position=position, now=now):
            return None
        return ArrearsChange(organisation_id, ArrearsStatus(state.status), to)


def _state(organisation_id: UUID) -> ArrearsState:
    """Its row, written on first sight; the wallet's lock keeps two from writing it."""
    rows = ArrearsState.objects.select_related("organisation")
    found = rows.filter(pk=organisation_id).first()
    if found is None:
        ArrearsState.objects.create(organisation_id=organisation_id)
        found = rows.get(pk=organisation_id)
    return found
