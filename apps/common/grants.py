"""A right that is rechecked periodically, for connections that outlive the request that opened them.

Downloads, WebSockets: each holds a `Grant` and ends with it. The timer is the truth; `recheck_soon` only hastens it.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ObjectDoesNotExist
from django.db import Error as DatabaseError

from apps.common.access import Access, Actors, permitted
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound, Unavailable
from apps.common.rounds import CheckTogether, rounds
from apps.common.scoping import acting

log = logging.getLogger(__name__)

# Rights end everywhere within 30 s: twice the longest pause leaves room for a database that is slow to answer.
RECHECK_S = 12.0
# Jitter of the pause, so that a thousand tabs that reconnected together do not check together for ever.
SPREAD = 0.15
# The database may be away for a while without open connections being cut; nobody new gets in meanwhile.
BLIND_S = 300.0


class Grant:
    """`visible` looks up what is being read and raises a `DomainError` if the actor may no longer see it.

    `access` is what the route declares. Both are checked against the database at that time, in the same organisation.
    `together` checks many such grants at once (`recheck_together`); without it each is checked by itself, as it has to
    be where `visible` may take long.
    """

    def __init__(
        self,
        actors: Actors,
        access: Access,
        visible: Callable[[Actor], object],
        together: CheckTogether | None = None,
    ) -> None:
        self._actors, self._access, self._visible, self._together = actors, access, visible, together
        self._hurried = asyncio.Event()
        self._doubts = self._begun = self._resolved = 0
        self.on_confirmed: Callable[[], None] = lambda: None

    @property
    def in_doubt(self) -> bool:
        """Whether the person's rights have changed since the check that was last begun and confirmed them."""
        return self._doubts > self._resolved

    @property
    def is_hurried(self) -> bool:
        return self._hurried.is_set()

    def begin(self) -> None:
        self._hurried.clear()
        self._begun = self._doubts

    def recheck(self) -> Actor:
        """The actor with their present rights; raises a `DomainError`, such as `SignedOut`, if the right is gone."""
        return self._recheck_of(self._actors.reloaded())

    def _recheck_of(self, actors: Actors) -> Actor:
        actor = permitted(actors, self._access)
        try:
            with acting(actor):
                self._visible(actor)
        except ObjectDoesNotExist:
            raise NotFound from None
        self._actors = actors  # from now on they are bound to the organisation
        return actor

    def recheck_soon(self) -> None:
        """Wake the next check now, because something about the person's rights has changed."""
        self._doubts += 1
        self._hurried.set()
        if self._together is not None:
            rounds(self._together).hurry()

    async def wait_until_lost(self) -> DomainError:
        """Return the reason once the right is gone. Unexpected errors are raised and end the connection as well."""
        asked_at = time.monotonic()
        while True:
            try:
                await self._check_in_time()
                asked_at = time.monotonic()
                self._resolved = self._begun
                self.on_confirmed()
            except (DatabaseError, Unavailable) as error:
                log.warning("a right could not be confirmed: %s", error)
                if time.monotonic() - asked_at > BLIND_S:
                    return Unavailable("")
            except DomainError as error:
                return error

    async def _check_in_time(self) -> None:
        """Check after a pause, or as soon as the right is doubted."""
        pause_s = RECHECK_S * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  spreads load, guards nothing
        if self._together is not None:
            await rounds(self._together).checked(self, pause_s)
            return
        try:
            async with asyncio.timeout(pause_s):
                await self._hurried.wait()
        except TimeoutError:
            pass
        self.begin()
        await sync_to_async(self.recheck)()


def recheck_together(
    grants: Sequence[Grant], reloaded: Callable[[Sequence[Any]], Sequence[Actors | DomainError]]
) -> list[Exception | None]:
    """What is wrong with each; `reloaded` reads the actors of all of them. Those it cannot read are read one by one."""
    try:
        found = reloaded([grant._actors for grant in grants])
    except DatabaseError:
        raise
    except Exception:
        log.exception("rights could not be checked together")
        return [_fault(grant.recheck) for grant in grants]
    return [
        each if isinstance(each, DomainError) else _fault(grant._recheck_of, each)
        for grant, each in zip(grants, found, strict=True)
    ]


def _fault(check: Callable[..., object], *args: Any) -> Exception | None:
    try:
        check(*args)
    except Exception as error:
        return error
    return None
