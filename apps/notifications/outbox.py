"""Sending what the outbox holds: claimed under a lease and a fence, handed over outside any transaction, never twice.

    queued → sending → sent | queued again, later | given up | unknown

A claim that dies before `sending` was written is taken up again when its lease ends. `sending` is committed right
before the message is handed over; a crash after that leaves a delivery that is not repeated ("perhaps sent").
"""

import logging
from datetime import datetime, timedelta
from time import monotonic

from django.db import transaction
from django.db.models import F, Min, Q, QuerySet

from apps.common.clock import db_now
from apps.notifications.choices import Channel, DeliveryState
from apps.notifications.composing import compose
from apps.notifications.gateways.base import Gateway, Outcome, Result, Unreachable
from apps.notifications.gateways.chosen import gateway, hourly_limit
from apps.notifications.models import Delivery

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=90)
AGAIN_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 360))
WINDOW = timedelta(hours=1)
BATCH = 50
BUDGET_S = 4.0
S = DeliveryState


def send_due(channel: Channel, *, limit: int = BATCH) -> int:
    """Send due messages of this channel, at most `limit`; returns how many were handed over."""
    _settle_interrupted(channel)
    way = gateway(channel)
    if way is None:
        return 0
    sent, opened, until = 0, False, monotonic() + BUDGET_S
    try:
        for _each in range(limit):
            if monotonic() > until:  # a slow server must not block the worker for everything else
                break
            batch = _claim(channel)
            if not batch:
                break
            if not opened:
                way.open()
                opened = True
            sent += _hand_over(way, batch)
    except Unreachable as error:
        _settle(batch, Result(Outcome.LATER, str(error)), from_state=S.QUEUED)
    finally:
        way.close()
    return sent


def _claim(channel: Channel) -> list[Delivery]:
    """Claim one due delivery; if the limit had put it off, also those that waited with it. Empty if nothing is due."""
    while True:
        with transaction.atomic():
            now = db_now()
            head = _due(channel, now).select_for_update(skip_locked=True).first()
            if head is None:
                return []
            free_at = _next_free_slot(head, now)
            if free_at is not None:
                Delivery.objects.filter(pk=head.pk).update(next_try_at=free_at, put_off=True)
                continue
            found = [head, *_digest_batch(head, now)]
            Delivery.objects.filter(pk__in=[each.pk for each in found]).update(
                fence=F("fence") + 1, lease_until=now + LEASE
            )
        return list(_loaded(found))


def _due(channel: Channel, now: datetime) -> QuerySet[Delivery]:
    rows: QuerySet[Delivery] = Delivery.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=now), channel=channel, state=S.QUEUED, next_try_at__lte=now
    )
    return rows.order_by("next_try_at", "pk")


def _next_free_slot(delivery: Delivery, now: datetime) -> datetime | None:
    """When this person may get the next message of this kind; None: now. Only first tries are limited."""
    if delivery.attempts:
        return None
    lately = Delivery.objects.filter(
        user_id=delivery.user_id,
        channel=delivery.channel,
        kind=delivery.kind,
        state=S.SENT,
        digest__isnull=True,
        done_at__gt=now - WINDOW,
    )
    if lately.count() < hourly_limit(Channel(delivery.channel)):
        return None
    oldest: datetime = lately.aggregate(at=Min("done_at"))["at"]
    return oldest + WINDOW


def _digest_batch(head: Delivery, now: datetime) -> list[Delivery]:
    if not head.put_off:
        return []
    same = Q(organisation_id=head.organisation_id) if head.organisation_id else Q(organisation__isnull=True)
    rows = Delivery.objects.select_for_update(skip_locked=True).filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=now),
        same,
        user_id=head.user_id,
        channel=head.channel,
        kind=head.kind,
        address=head.address,
        state=S.QUEUED,
        put_off=True,
    )
    return list(rows.exclude(pk=head.pk).order_by("created_at", "pk"))


def _loaded(found: list[Delivery]) -> list[Delivery]:
    rows = Delivery.objects.filter(pk__in=[each.pk for each in found]).select_related("user", "notice__organisation")
    by_pk = {row.pk: row for row in rows}
    return [by_pk[each.pk] for each in found]


def _hand_over(way: Gateway, batch: list[Delivery]) -> bool:
    """Send the batch as one message; returns whether it was accepted."""
    try:
        message = compose(batch)
    except Exception:  # a text that cannot be rendered must not block the others for ever
        log.exception("A notice of the kind %s cannot be put into words", batch[0].kind)
        _settle(batch, Result(Outcome.LATER, "cannot be put into words"), from_state=S.QUEUED)
        return False
    if not _begin(batch):
        return False
    result = way.send(message)
    _settle(batch, result, from_state=S.SENDING)
    return result.outcome is Outcome.SENT


def _begin(batch: list[Delivery]) -> bool:
    """Commit that it is being handed over; False if somebody else holds a newer claim."""
    with transaction.atomic():
        begun = _ours(batch, S.QUEUED).update(state=S.SENDING)
        if begun != len(batch):
            transaction.set_rollback(True)
            return False
    return True


def _ours(batch: list[Delivery], state: DeliveryState) -> QuerySet[Delivery]:
    held = Q()
    for each in batch:
        held |= Q(pk=each.pk, fence=each.fence)
    rows: QuerySet[Delivery] = Delivery.objects.filter(held, state=state)
    return rows


def _settle(batch: list[Delivery], result: Result, *, from_state: DeliveryState) -> None:
    """Record the outcome under the fence of the claim."""
    now = db_now()
    tried = batch[0].attempts + 1
    changes: dict[str, object] = {"error": result.detail if result.outcome is not Outcome.SENT else ""}
    if result.outcome is Outcome.LATER and tried <= len(AGAIN_AFTER):
        changes |= {"state": S.QUEUED, "next_try_at": now + AGAIN_AFTER[tried - 1]}
    else:
        changes |= {"state": _END[result.outcome], "done_at": now}
    _ours(batch, from_state).update(attempts=F("attempts") + 1, lease_until=None, **changes)
    if len(batch) > 1 and result.outcome is Outcome.SENT:
        Delivery.objects.filter(pk__in=[each.pk for each in batch[1:]]).update(digest=batch[0])


_END = {
    Outcome.SENT: S.SENT,
    Outcome.LATER: S.GIVEN_UP,
    Outcome.REFUSED: S.GIVEN_UP,
    Outcome.UNKNOWN: S.UNKNOWN,
}


def _settle_interrupted(channel: Channel) -> None:
    """Mark deliveries whose sender died as unknown: nobody knows whether they arrived."""
    now = db_now()
    Delivery.objects.filter(channel=channel, state=S.SENDING, lease_until__lt=now).update(
        state=S.UNKNOWN, done_at=now, lease_until=None, error="interrupted"
    )
