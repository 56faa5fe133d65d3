"""Who is short of money."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F

from apps.billing.arrears.settings import ArrearsSettings
from apps.billing.arrears.states import Terms
from apps.billing.choices import STOPPING, AccountKind, ArrearsStatus
from apps.billing.metering.selectors import burn_by_organisation
from apps.billing.models import Account, ArrearsState
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants import settings


def suspended_organisation_ids() -> frozenset[UUID]:
    """Organisations whose compute must be stopped and for whom nothing new may be placed."""
    return frozenset(ArrearsState.objects.filter(status__in=STOPPING).values_list("pk", flat=True))


def organisations_to_assess() -> list[UUID]:
    """Organisations that run something, owe something or are in any state but normal, in a stable order."""
    owing = Account.objects.filter(kind=AccountKind.CASH, balance_fen__lt=-F("credit_limit_fen"))
    moved = ArrearsState.objects.exclude(status=ArrearsStatus.NORMAL)
    return sorted(
        set(burn_by_organisation())
        | set(owing.values_list("organisation_id", flat=True))
        | set(moved.values_list("pk", flat=True))
    )


def terms_of(state: ArrearsState | None) -> Terms:
    """The organisation's own terms where it has them, else the platform's."""
    rules = settings.get(ArrearsSettings)
    grace = state.grace_minutes if state else None
    retention = state.retention_days if state else None
    return Terms(
        timedelta(minutes=rules.grace_minutes if grace is None else grace),
        timedelta(days=rules.retention_days if retention is None else retention),
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an organisation stands, and under which terms; own terms are None where the platform's hold.

    `grace_until` and `release_at` are None outside of the state that ends with them; while suspended, `release_at` is
    when the release is due if nothing is paid.
    """

    status: ArrearsStatus
    since: datetime | None
    grace_until: datetime | None
    release_at: datetime | None
    terms: Terms
    own_grace_minutes: int | None
    own_retention_days: int | None


def standing(actor: Actor, organisation_id: UUID) -> Standing:
    """The actor's own organisation's, or any for the platform's finance staff."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW_OWN)
    return standing_of(ArrearsState.objects.filter(pk=organisation_id).first())


def standing_of(state: ArrearsState | None) -> Standing:
    """`standing` from the organisation's row. An organisation without a row was never short of money."""
    terms = terms_of(state)
    status = ArrearsStatus(state.status) if state else ArrearsStatus.NORMAL
    since = state.since if state else None
    due = since + terms.retention if since and status is ArrearsStatus.SUSPENDED else None
    return Standing(
        status=status,
        since=since,
        grace_until=since + terms.grace if since and status is ArrearsStatus.GRACE else None,
        release_at=(state.release_at if state else None) or due,
        terms=terms,
        own_grace_minutes=state.grace_minutes if state else None,
        own_retention_days=state.retention_days if state else None,
    )


def released_organisation_ids() -> frozenset[UUID]:
    """Organisations whose stored data may be moved into the recycle bin."""
    rows = ArrearsState.objects.filter(status=ArrearsStatus.RELEASED)
    return frozenset(rows.values_list("pk", flat=True))
