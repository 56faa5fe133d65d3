"""The secrets of a webhook: sealed in its row; the old one stays valid for a day beside the new one."""

from datetime import datetime, timedelta
from uuid import UUID

from apps.common.sealing import purpose_for, seal, unseal
from apps.notifications.models import Webhook

OVERLAP = timedelta(hours=24)


def sealed(secret: str, webhook_id: UUID) -> bytes:
    return seal(secret.encode(), purpose=_purpose(webhook_id))


def keys_of(hook: Webhook, now: datetime) -> list[str]:
    """The secrets that sign at this moment, the newest first; raises `sealing.Unreadable`."""
    found = [unseal(bytes(hook.secret), purpose=_purpose(hook.pk)).decode()]
    if hook.old_secret and hook.old_secret_until and hook.old_secret_until > now:
        found.append(unseal(bytes(hook.old_secret), purpose=_purpose(hook.pk)).decode())
    return found


def _purpose(webhook_id: UUID) -> str:
    return purpose_for(
        "notifications_webhook", webhook_id, "secret"
    )  # both columns: a secret moves from one to the other
