"""What processes of the gateway hold for services: a row for each of both, written every few seconds.

The row of a process that ended, however it did, counts no more after `FRESH`.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Sum
from django_scopes import scopes_disabled

from apps.common.clock import db_now
from apps.serving.models import Load

FRESH = timedelta(seconds=10)
"""A process tells every `door.counting.WRITE_EVERY_S`, which leaves room for one that is late twice."""
UPSERT = """
INSERT INTO serving_load (organisation_id, service_id, process, in_flight, told_at)
SELECT organisation_id, id, %s, %s, now() FROM serving_service WHERE id = %s
ON CONFLICT (service_id, process) DO UPDATE SET in_flight = excluded.in_flight, told_at = excluded.told_at
"""


def write(process: UUID, told: Mapping[UUID, float]) -> None:
    """In the order of their keys, so that two processes do not wait for each other in a circle."""
    with scopes_disabled(), transaction.atomic(), connection.cursor() as cursor:
        for service_id in sorted(told, key=lambda each: each.hex):
            cursor.execute(UPSERT, [str(process), told[service_id], str(service_id)])


def of(service_ids: Iterable[UUID]) -> Mapping[UUID, float]:
    """Requests in flight now, all processes together; nothing for services of which nobody tells."""
    rows = Load.objects.filter(service__in=list(service_ids), told_at__gt=db_now() - FRESH)
    return dict(rows.order_by().values_list("service_id").annotate(Sum("in_flight")))


def forget_old() -> None:
    """Drop the rows of processes that tell no more."""
    Load.objects.filter(told_at__lt=db_now() - timedelta(hours=1)).delete()
