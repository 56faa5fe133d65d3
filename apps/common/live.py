"""Nudges to browsers over Channels. The database holds the truth; a lost message only delays a page."""

import logging
from collections.abc import Sequence
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


def rights_group(user_id: int) -> str:
    """Every connection of a person joins it by itself; what is sent there makes them ask for their rights again."""
    return f"rights.{user_id}"


PLATFORM_GROUP = "platform"


def hurry_rights_on_commit(user_id: int) -> None:
    """Let the person's open connections notice at once that their rights have changed; they would in seconds."""
    publish_on_commit([rights_group(user_id)], {"type": "rights.changed"})


def publish_on_commit(groups: list[str], message: dict[str, Any]) -> None:
    """Once the transaction has committed, send `message` ({"type": handler, ...JSON}) to every group, named in it."""
    publish_many_on_commit([(group, message) for group in groups])


def publish_many_on_commit(messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """The same for many messages, each to its group, in one go."""
    transaction.on_commit(lambda: _publish(messages), robust=True)


def _publish(messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
    layer = get_channel_layer()
    if layer is None or not messages:
        return
    try:
        async_to_sync(_send)(layer, messages)
    except Exception:  # Redis down: browsers catch up from their last event id
        kind = messages[0][1].get("type")
        log.warning("live message lost: %s", kind, exc_info=log.isEnabledFor(logging.DEBUG))


async def _send(layer: Any, messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
    for group, message in messages:
        await layer.group_send(group, {**message, "group": group})
