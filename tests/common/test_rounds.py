"""Rights that are due at about the same time are checked together, a doubted one at once."""

import asyncio
from collections.abc import Sequence

import pytest

from apps.common import rounds as module
from apps.common.errors import SignedOut
from apps.common.rounds import Rounds

LONG_S = 3600.0
PATIENCE_S = 60.0  # for what ends in a failure


class Right:
    def __init__(self) -> None:
        self.is_hurried = False

    def begin(self) -> None:
        self.is_hurried = False


class Checks:
    """Notes who was checked together; `wrong` is found wrong."""

    def __init__(self) -> None:
        self.made: list[list[Right]] = []
        self.wrong: dict[Right, Exception] = {}
        self.fault: Exception | None = None

    def __call__(self, rights: Sequence[Right]) -> list[Exception | None]:
        self.made.append(list(rights))
        if self.fault is not None:
            raise self.fault
        return [self.wrong.get(right) for right in rights]


async def test_whoever_is_due_soon_is_checked_with_who_is_due_now() -> None:
    """Each is due so many seconds from one moment on, however long it takes until all of them wait."""
    checks, rights = Checks(), [Right() for _ in range(20)]
    together, loop = Rounds(checks), asyncio.get_running_loop()
    first = loop.time() + 2

    async def checked(right: Right, number: int) -> None:
        await together.checked(right, first + number / 1000 - loop.time())

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(checked(right, number) for number, right in enumerate(rights)))
    assert [set(made) for made in checks.made] == [set(rights)]


async def test_a_round_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TOGETHER", 8)
    checks, rights = Checks(), [Right() for _ in range(20)]
    together = Rounds(checks)
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(together.checked(right, 0.0) for right in rights))
    assert max(map(len, checks.made)) <= 8
    assert sorted(map(id, rights)) == sorted(id(right) for made in checks.made for right in made)


async def test_a_doubted_one_is_checked_at_once_and_the_others_in_their_time() -> None:
    checks, doubted, calm = Checks(), Right(), Right()
    checks.wrong[doubted] = SignedOut()
    together = Rounds(checks)
    waiting = [asyncio.create_task(together.checked(right, LONG_S)) for right in (doubted, calm)]
    await asyncio.sleep(0)
    doubted.is_hurried = True
    together.hurry()
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(SignedOut):
            await waiting[0]
    assert checks.made == [[doubted]]
    assert not waiting[1].done()
    waiting[1].cancel()


async def test_who_was_doubted_before_waiting_is_checked_at_once() -> None:
    checks, right = Checks(), Right()
    right.is_hurried = True
    async with asyncio.timeout(PATIENCE_S):
        await Rounds(checks).checked(right, LONG_S)
    assert checks.made == [[right]]


async def test_a_check_that_fails_fails_for_each_of_them_and_the_next_is_made() -> None:
    checks, rights = Checks(), [Right(), Right()]
    checks.fault = ZeroDivisionError()
    together = Rounds(checks)
    async with asyncio.timeout(PATIENCE_S):
        found = await asyncio.gather(*(together.checked(right, 0.0) for right in rights), return_exceptions=True)
        assert [type(each) for each in found] == [ZeroDivisionError, ZeroDivisionError]
        checks.fault = None
        await asyncio.gather(*(together.checked(right, 0.0) for right in rights))


async def test_the_others_are_checked_when_the_one_who_began_has_left() -> None:
    checks, first, other = Checks(), Right(), Right()
    together = Rounds(checks)
    leaving = asyncio.create_task(together.checked(first, LONG_S))
    staying = asyncio.create_task(together.checked(other, 0.1))
    await asyncio.sleep(0)
    leaving.cancel()
    async with asyncio.timeout(PATIENCE_S):
        await staying
    assert checks.made == [[other]]
