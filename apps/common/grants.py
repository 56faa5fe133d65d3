"""A right that lasts only as long as it is confirmed, for whatever outlives the request that opened it.

Downloads, WebSockets: each holds a `Grant` and ends with it. The timer is the truth; `hurry` only makes it sooner.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.core.exceptions import ObjectDoesNotExist
from django.db import Error as DatabaseError

from apps.common.access import Access, Actors, permitted
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound, Unavailable
from apps.common.scoping import acting

log = logging.getLogger(__name__)

# Rights end everywhere within 30 s: twice the longest pause leaves room for a database that is slow to answer.
RECHECK_S = 12.0
# The pause varies by this share, so that a thousand tabs that reconnected together do not ask together for ever.
SPREAD = 0.15
# The database may be away for a while without open connections being cut; nobody new gets in meanwhile.
BLIND_S = 300.0


class Grant:
    """`visible` looks up what is being read and raises a `DomainError` where the actor may not see it any more.

    `access` is what the route declares. Both are asked of the database as it is then, and of the same organisation.
    """

    def __init__(self, actors: Actors, access: Access, visible: Callable[[Actor], object]) -> None:
        self._actors, self._access, self._visible = actors, access, visible
        self._hurried = asyncio.Event()

    def ask(self) -> Actor:
        """The actor with the rights of this moment; raises a `DomainError`, `SignedOut` among them."""
        actors = self._actors.again()
        actor = permitted(actors, self._access)
        try:
            with acting(actor):
                self._visible(actor)
        except ObjectDoesNotExist:
            raise NotFound from None
        self._actors = actors  # they know from now on in which organisation it is
        return actor

    def hurry(self) -> None:
        """Ask at once: something about the person's rights has changed."""
        self._hurried.set()

    async def lost(self) -> DomainError:
        """Return once the right is gone, with the reason. Anything unexpected is raised, and ends it as well."""
        asked_at = time.monotonic()
        while True:
            await self._pause()
            try:
                await sync_to_async(self.ask)()
                asked_at = time.monotonic()
            except (DatabaseError, Unavailable) as error:
                log.warning("a right could not be confirmed: %s", error)
                if time.monotonic() - asked_at > BLIND_S:
                    return Unavailable("")
            except DomainError as error:
                return error

    async def _pause(self) -> None:
        pause_s = RECHECK_S * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  spreads load, guards nothing
        try:
            async with asyncio.timeout(pause_s):
                await self._hurried.wait()
        except TimeoutError:
            return
        self._hurried.clear()
