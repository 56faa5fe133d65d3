"""The meter: opened, carried on and closed by the kernel, in the transaction of the status itself.

There is no actor: these are the platform's own observations. Each call is one conditional statement and locks only its
session.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Case, F, Value, When
from django.db.models.functions import Greatest

from apps.billing.choices import Resource
from apps.billing.models import MeterSession
from apps.billing.prices.own import own_prices
from apps.common import tags as words


def open_meter(
    *,
    session_id: UUID,
    organisation_id: UUID,
    user_id: int,
    workload_id: UUID,
    label: str,
    price_version_id: int,
    at: datetime,
    replicas: int = 1,
    set_id: UUID | None = None,
    resource: Resource = Resource.COMPUTE,
    tags: Sequence[str] = (),
) -> None:
    """Begin an attempt's session at the first proof of running. Repeated: the first call stands.

    The organisation's discount of that moment and the run's `tags` are frozen with it.
    """
    own = own_prices(organisation_id, at)
    session = MeterSession(
        id=session_id,
        organisation_id=organisation_id,
        user_id=user_id,
        workload_id=workload_id,
        label=label[:200],
        price_version_id=price_version_id,
        replicas=replicas,
        set_id=set_id,
        resource=resource,
        discount=own.discount,
        discount_off=own.off,
        tags=list(tags),
        tag_keys=words.keys(tags),
        opened_at=at,
        proven_until=at,
        rated_until=at,
    )
    MeterSession.objects.bulk_create([session], ignore_conflicts=True)


def extend_meter(*, session_id: UUID, proven_until: datetime) -> None:
    """Record that it was seen running at `proven_until`. Older proofs, and proofs after the close, change nothing."""
    MeterSession.objects.filter(pk=session_id, closed_at__isnull=True, proven_until__lt=proven_until).update(
        proven_until=proven_until
    )


def close_meter(*, session_id: UUID, at: datetime) -> None:
    """End the session at `at`, or at its opening when that is later. Repeated: the first close stands.

    An end before the last proof gives the time in between back; if it was already rated, the next rating credits it.
    """
    end = Greatest(Value(at), F("opened_at"))
    MeterSession.objects.filter(pk=session_id, closed_at__isnull=True).update(
        closed_at=end,
        proven_until=end,
        settled=Case(When(rated_until=end, then=Value(True)), default=Value(False)),
    )
