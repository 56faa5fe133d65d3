"""Rights of many open connections, checked again together: a thousand pages cost a few statements each second."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from heapq import nsmallest
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from apps.common.background import BackgroundThread

# Whoever is due within this part of their pause is checked with those who are due now.
EARLY = 0.1
# A round holds the interpreter for some milliseconds, and whoever is doubted meanwhile waits for it.
MOST_TOGETHER = 100

thread = BackgroundThread("rights")


class Right(Protocol):
    @property
    def is_hurried(self) -> bool:
        """Whether it has been doubted since the check that was begun last."""

    def begin(self) -> None:
        """A check begins now: what is doubted from here on needs another one."""


# What is wrong with each of them, if anything. Called in `thread`.
CheckTogether = Callable[[Sequence[Any]], Sequence[Exception | None]]


class Rounds:
    """The rights that wait in this event loop to be checked. Works while there is one."""

    def __init__(self, check: CheckTogether) -> None:
        self._check = check
        # When each is to be checked: from, and at the latest.
        self._due: dict[Right, tuple[float, float]] = {}
        self._answers: dict[Right, asyncio.Future[Exception | None]] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def checked(self, right: Right, pause_s: float) -> None:
        """Return once `right` was checked, which begins after `pause_s` at the latest; raises what is wrong with it."""
        loop = asyncio.get_running_loop()
        answer = self._answers[right] = loop.create_future()
        latest = loop.time() + pause_s
        self._due[right] = (latest - EARLY * pause_s, latest)
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), context=Context())  # not that of this connection, which ends
        try:
            error = await answer
        finally:
            self._leave(right)
        if error is not None:
            raise error

    def hurry(self) -> None:
        """One of the rights was doubted."""
        self._news.set()

    def _leave(self, right: Right) -> None:
        self._due.pop(right, None)
        self._answers.pop(right, None)
        if not self._answers and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._news.clear()
            if chosen := self._choose(loop.time()):
                await self._check_now(chosen)
                continue
            try:
                async with asyncio.timeout_at(min((latest for _from, latest in self._due.values()), default=None)):
                    await self._news.wait()
            except TimeoutError:
                pass

    def _choose(self, now: float) -> list[Right]:
        """Nobody while nobody is hurried or due; else with them whoever will be soon, the most urgent first."""
        urgency = {right: 0.0 if right.is_hurried else latest for right, (_from, latest) in self._due.items()}
        if not urgency or min(urgency.values()) > now:
            return []
        soon = [right for right, (earliest, _latest) in self._due.items() if earliest <= now or not urgency[right]]
        return nsmallest(MOST_TOGETHER, soon, key=urgency.__getitem__)

    async def _check_now(self, chosen: list[Right]) -> None:
        answers = [self._answers[right] for right in chosen]
        for right in chosen:
            del self._due[right]
            right.begin()
        found: Sequence[Exception | None]
        try:
            found = await thread.run(self._check, chosen)
        except Exception as error:  # each decides what it means for itself
            found = [error] * len(chosen)
        for answer, wrong in zip(answers, found, strict=True):
            if not answer.done():
                answer.set_result(wrong)


_rounds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[CheckTogether, Rounds]] = WeakKeyDictionary()


def rounds(check: CheckTogether) -> Rounds:
    """Those of the running event loop in which rights are checked by `check`."""
    of_loop = _rounds.setdefault(asyncio.get_running_loop(), {})
    if check not in of_loop:
        of_loop[check] = Rounds(check)
    return of_loop[check]
