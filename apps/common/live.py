"""Nudges to browsers over Channels. The database holds the truth; a lost message only delays a page."""

import logging
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger(__name__)


def workload_group(workload_id: UUID) -> str:
    return f"workload.{workload_id}"


def organisation_group(organisation_id: UUID) -> str:
    return f"org.{organisation_id}"


def person_group(user_id: int) -> str:
    return f"user.{user_id}"


PLATFORM_GROUP = "platform"


def publish_on_commit(groups: list[str], message: dict[str, Any]) -> None:
    """Once the transaction has committed, send `message` ({"type": handler, ...JSON}) to every group, named in it."""
    transaction.on_commit(lambda: _publish(groups, message), robust=True)


def _publish(groups: list[str], message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        for group in groups:
            async_to_sync(layer.group_send)(group, {**message, "group": group})
    except Exception:  # Redis down: browsers catch up from their last event id
        log.warning("live message lost: %s", message.get("type"), exc_info=log.isEnabledFor(logging.DEBUG))
