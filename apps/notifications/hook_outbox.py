"""Sending events to webhooks: claimed under a lease and a fence, posted together, repeated with growing pauses.

Unlike mail, an event may be posted twice: if a worker dies, its claim is posted again under the same `Webhook-Id`, by
which the receiver recognises it.
"""

import asyncio
import json
import random
from datetime import datetime, timedelta

from django.conf import settings as installation
from django.db import transaction
from django.db.models import F, Q

from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.sealing import Unreadable
from apps.notifications.choices import DeliveryState, HookFault
from apps.notifications.models import Webhook, WebhookAttempt, WebhookDelivery
from apps.notifications.services.notify import notify_organisation
from apps.notifications.webhooks.posting import Answer, Post, post_all
from apps.notifications.webhooks.secrets import keys_of
from apps.notifications.webhooks.signing import headers

BATCH = 16
LEASE = timedelta(seconds=60)
PAUSES_MIN = (0.1, 1, 5, 30, 120, 300, 600)  # then the last one, until `give_up_at`
SPREAD = 0.1  # so that what failed together does not come back together
SWITCH_OFF_AFTER = timedelta(days=3)
GONE = 410
S = DeliveryState


def send_due(*, limit: int = BATCH) -> int:
    """Post due events, at most `limit` at once; returns how many were accepted."""
    batch = _claim(limit)
    if not batch:
        return 0
    now = db_now()
    posts = {each.pk: post for each in batch if (post := _post(each, now)) is not None}
    answers = asyncio.run(post_all(list(posts.values()), allow=list(installation.WEBHOOK_ALLOW)))
    by_pk = dict(zip(posts, answers, strict=True))
    lost = Answer(None, HookFault.INTERRUPTED, 0)  # its secret cannot be read
    return sum(_settle(each, by_pk.get(each.pk, lost)) for each in batch)


def payload(delivery: WebhookDelivery) -> dict[str, object]:
    """What the receiver reads: `type`, `timestamp` (of the event), `organisation` and `data`."""
    return {
        "type": delivery.kind,
        "timestamp": delivery.created_at.isoformat(),
        "organisation": str(delivery.organisation_id),
        "data": delivery.data,
    }


def _claim(limit: int) -> list[WebhookDelivery]:
    with transaction.atomic():
        now = db_now()
        due = WebhookDelivery.objects.filter(
            Q(lease_until__isnull=True) | Q(lease_until__lt=now),
            state=S.QUEUED,
            next_try_at__lte=now,
            webhook__active=True,
        )
        claimed = due.select_for_update(skip_locked=True, of=("self",)).order_by("next_try_at", "pk")[:limit]
        keys = list(claimed.values_list("pk", flat=True))
        WebhookDelivery.objects.filter(pk__in=keys).update(fence=F("fence") + 1, lease_until=now + LEASE)
    return list(WebhookDelivery.objects.filter(pk__in=keys).select_related("webhook"))


def _post(delivery: WebhookDelivery, now: datetime) -> Post | None:
    body = json.dumps(payload(delivery), ensure_ascii=False, separators=(",", ":")).encode()
    try:
        keys = keys_of(delivery.webhook, now)
    except Unreadable:
        return None
    signed = headers(keys, message_id=str(delivery.pk), timestamp=int(now.timestamp()), body=body)
    return Post(delivery.webhook.url, signed, body)


def _settle(delivery: WebhookDelivery, answer: Answer) -> bool:
    """Record the outcome under the fence; returns whether it was accepted."""
    with transaction.atomic():
        now = db_now()
        changed = WebhookDelivery.objects.filter(pk=delivery.pk, fence=delivery.fence, state=S.QUEUED).update(
            attempts_made=F("attempts_made") + 1,
            lease_until=None,
            last_status=answer.status,
            **_retry_columns(delivery, answer, now),
        )
        if changed:
            WebhookAttempt.objects.create(
                organisation_id=delivery.organisation_id,
                delivery=delivery,
                status=answer.status,
                milliseconds=answer.milliseconds,
                fault=answer.fault,
            )
            _update_health(delivery.webhook, answer, now)
    return bool(changed) and answer.accepted


def _retry_columns(delivery: WebhookDelivery, answer: Answer, now: datetime) -> dict[str, object]:
    if answer.accepted:
        return {"state": S.SENT, "done_at": now}
    pause = PAUSES_MIN[min(delivery.attempts_made, len(PAUSES_MIN) - 1)]
    spread = 1 + random.uniform(-SPREAD, SPREAD)  # noqa: S311  no secret hangs on it
    again = now + timedelta(minutes=pause) * spread
    if again > delivery.give_up_at:
        return {"state": S.GIVEN_UP, "done_at": now}
    return {"next_try_at": again}


def _update_health(hook: Webhook, answer: Answer, now: datetime) -> None:
    """A success clears the failures; consecutive failures over days, or a 410, switch the webhook off."""
    rows = Webhook.objects.filter(pk=hook.pk)
    if answer.accepted:
        rows.filter(failing_since__isnull=False).update(failing_since=None)
        return
    rows.filter(failing_since__isnull=True).update(failing_since=now)
    hopeless = Q(failing_since__lt=now - SWITCH_OFF_AFTER)
    due = rows.filter(active=True) if answer.status == GONE else rows.filter(hopeless, active=True)
    if due.update(active=False, switched_off_at=now):
        notify_organisation(
            organisation_id=hook.organisation_id,
            kind="webhook.switched_off",
            data={"webhook_id": str(hook.pk), "name": hook.name},
            permission=Permission.WEBHOOKS_MANAGE,
        )
