"""Nudges to browsers. The database holds the truth; a lost message only delays a page.

Whoever changes something publishes once to Redis, whatever the number of pages that watch: each web process passes it
on to its own (`apps.common.hub`).
"""

import json
import logging
from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

log = logging.getLogger(__name__)

REDIS_CHANNEL = "plstack.live"
# A request publishes after its commit and waits for no longer than this for a Redis that does not answer.
TIMEOUT_S = 1.0


def workload_group(workload_id: UUID) -> str:
    return f"workload.{workload_id}"


def organisation_group(organisation_id: UUID) -> str:
    return f"org.{organisation_id}"


def person_group(user_id: int) -> str:
    return f"user.{user_id}"


def rights_group(user_id: int) -> str:
    """Every connection of a person joins it; a message there makes them recheck their rights."""
    return f"rights.{user_id}"


PLATFORM_GROUP = "platform"
RIGHTS_CHANGED = "rights.changed"


def recheck_rights_on_commit(user_id: int) -> None:
    """Make the person's open connections recheck their rights now instead of within seconds."""
    publish_on_commit([rights_group(user_id)], {"type": RIGHTS_CHANGED})


def publish_on_commit(groups: list[str], message: dict[str, Any]) -> None:
    """Once the transaction has committed, send `message` ({"type": …, ...JSON}) to every group."""
    publish_many_on_commit([(groups, message)])


def publish_many_on_commit(messages: Sequence[tuple[list[str], dict[str, Any]]]) -> None:
    """`publish_on_commit` for many messages, each to its groups, in one batch."""
    transaction.on_commit(lambda: _publish(messages), robust=True)


def _publish(messages: Sequence[tuple[list[str], dict[str, Any]]]) -> None:
    if not messages:
        return
    try:
        # Not through the web process' event loop, which is busy while it passes on the message before.
        with _client().pipeline(transaction=False) as pipe:
            for groups, message in messages:
                pipe.publish(REDIS_CHANNEL, json.dumps({**message, "groups": groups}))
            pipe.execute()
    except (redis.RedisError, OSError):  # browsers catch up from their last event id
        kind = messages[0][1].get("type")
        log.warning("live message lost: %s", kind, exc_info=log.isEnabledFor(logging.DEBUG))


@cache
def _client() -> redis.Redis:
    """Its connections are shared by the threads of a process; after a fork it makes new ones."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),  # one more try, for a connection that has died since it was last used
    )
