"""Who is short of money."""

from uuid import UUID

from django.db.models import F

from apps.billing.choices import STOPPING, AccountKind, ArrearsStatus
from apps.billing.models import Account, ArrearsState
from apps.billing.selectors.metering import burn_by_organisation


def suspended_organisation_ids() -> frozenset[UUID]:
    """Organisations whose compute is to be stopped, and nothing of theirs placed."""
    return frozenset(ArrearsState.objects.filter(status__in=STOPPING).values_list("pk", flat=True))


def organisations_to_assess() -> list[UUID]:
    """Those that run something, owe something, or are in any state but normal; in a steady order."""
    owing = Account.objects.filter(kind=AccountKind.CASH, balance_fen__lt=-F("credit_limit_fen"))
    moved = ArrearsState.objects.exclude(status=ArrearsStatus.NORMAL)
    return sorted(
        set(burn_by_organisation())
        | set(owing.values_list("organisation_id", flat=True))
        | set(moved.values_list("pk", flat=True))
    )
