"""Who may call at an address: a bearer key, looked up at most every few seconds, and how often it may call."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import redis.asyncio
from django.conf import settings
from django_scopes import scopes_disabled
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from apps.serving.keys import MARK, live
from apps.serving.models import ServiceKey
from apps.tenants.tokens import digest_of
from apps.workloads.gateway import headers
from apps.workloads.gateway.headers import Headers

log = logging.getLogger(__name__)

FRESH_S = 3.0
BLIND_S = 300.0
MOST_KNOWN = 50_000
REDIS_S = 0.5
MINUTE_MS = 60_000
LONGEST_DEBT_MS = 10 * MINUTE_MS
"""However many tokens one answer took: what servers say of them is not checked."""
# The generic cell rate algorithm: each request moves the time at which the next one is due by its share of a minute,
# and is refused where that lies more than a minute ahead. One step in Redis: it counts alike in all processes.
GCRA = """
local now = redis.call('TIME')
local ms = now[1] * 1000 + now[2] / 1000
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), ms) + ARGV[1]
if due - ms > tonumber(ARGV[2]) then return math.ceil(due - ms - ARGV[2]) end
redis.call('SET', KEYS[1], string.format('%.3f', due), 'PX', math.ceil(due - ms) + 1000)
return 0
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """A key that lets in. `until`: when it ends by itself. `models`: names that it is for; empty: all.

    `per_minute`, `tokens_per_minute`: None where it has no such limit.
    """

    key_id: UUID
    per_minute: int | None
    until: datetime | None
    models: frozenset[str] = frozenset()
    tokens_per_minute: int | None = None


def secret_in(incoming: Headers) -> str | None:
    """The key that a request shows; None where it shows none of ours."""
    kind, _space, secret = (headers.get(incoming, b"authorization") or "").partition(" ")
    secret = secret.strip()
    return secret if kind.lower() == "bearer" and secret.startswith(MARK) and len(secret) < 200 else None


def read(service_id: UUID, digest: str) -> Caller | None:
    """The live key of this service with this digest."""
    return _caller(service_id=service_id, digest=digest)


def read_of_organisation(organisation_id: UUID, digest: str) -> Caller | None:
    """The live key of this organisation's own address."""
    return _caller(organisation_id=organisation_id, service__isnull=True, digest=digest)


def _caller(**which: Any) -> Caller | None:
    with scopes_disabled():
        key = live(ServiceKey.objects.filter(**which)).first()
        return (
            None
            if key is None
            else Caller(key.pk, key.per_minute, key.expires_at, frozenset(key.model_names), key.tokens_per_minute)
        )


Ask = Callable[[UUID, str], Awaitable[Caller | None]]


@dataclass(slots=True)
class Callers:
    """One process's look at keys. One that is revoked lets nobody in after `fresh_s`."""

    ask: Ask
    fresh_s: float = FRESH_S
    _known: dict[tuple[UUID, str], tuple[Caller | None, float]] = field(default_factory=dict)

    async def get(self, address_of: UUID, secret: str) -> Caller | None:
        """Of the service or organisation with this id. Raises what `ask` raises for a key that was not known lately."""
        which = (address_of, digest_of(secret))
        known, asked_at = self._known.get(which, (None, 0.0))
        age = time.monotonic() - asked_at
        if which in self._known and age < self.fresh_s:
            return known
        try:
            found = await self.ask(*which)
        except Exception:
            if known is None or age > BLIND_S or _is_over(known):
                raise
            return known
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[which] = (found, time.monotonic())
        return found


def _is_over(known: Caller) -> bool:
    """The machine's clock stands in for that of the database, which is away."""
    return known.until is not None and known.until <= datetime.now(UTC)


def _client() -> Any:
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=REDIS_S,
        socket_connect_timeout=REDIS_S,
        retry=Retry(NoBackoff(), 1),
        max_connections=64,
    )


@dataclass(slots=True)
class Limits:
    """How often a key may call, and how many tokens it may use, counted in Redis for all processes together.

    A Redis that is away lets all pass.
    """

    client: Any = field(default_factory=partial(_client))

    async def wait_ms(self, caller: Caller) -> int:
        """0 where the request may pass, else after how long the next one may."""
        if caller.per_minute is None:
            return 0
        return await self._moved(f"rate.{caller.key_id}", MINUTE_MS / caller.per_minute, MINUTE_MS)

    async def tokens_wait_ms(self, caller: Caller) -> int:
        """0 while the key has tokens left. What an answer will take is not known before: it is charged afterwards."""
        if caller.tokens_per_minute is None:
            return 0
        return await self._moved(f"tokens.{caller.key_id}", 0.0, MINUTE_MS)

    async def spend(self, caller: Caller, tokens: int) -> None:
        """More than is left is owed: nothing passes until a minute's worth of it is over."""
        if caller.tokens_per_minute is not None and tokens:
            cost_ms = min(tokens * MINUTE_MS / caller.tokens_per_minute, LONGEST_DEBT_MS)
            await self._moved(f"tokens.{caller.key_id}", cost_ms, LONGEST_DEBT_MS * 2)

    async def _moved(self, what: str, by_ms: float, most_ms: int) -> int:
        try:
            return int(await self.client.eval(GCRA, 1, f"plstack.serving.{what}", f"{by_ms:.3f}", str(most_ms)))
        except (redis.RedisError, OSError, TimeoutError):
            log.warning("what keys use is not limited: Redis does not answer")
            return 0

    async def close(self) -> None:
        await self.client.aclose()
