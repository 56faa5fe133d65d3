"""Who gets a terminal, how many, and what ends it."""

from typing import Any

import pytest

from apps.common import grants
from apps.common.errors import NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.tenants.sockets import CloseCode
from apps.workloads import activity, reach
from apps.workloads.choices import Source
from apps.workloads.models import Member, Workload
from apps.workloads.terminal import consumers, sessions
from tests.architecture import endings
from tests.architecture.endings import Ending, Holder
from tests.builders import World, make_member, make_organisation, platform
from tests.sockets import browser_of, opened
from tests.workloads.terminals import Page, audit_log, end, scoped
from tests.workloads.terminals import queued as queued
from tests.workloads.terminals import running as running
from tests.workloads.terminals import world as world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.programs
async def test_nobody_but_the_owner_gets_in(running: Workload, world: World) -> None:
    def people() -> list[tuple[User | None, int]]:
        elsewhere = make_organisation()
        return [
            (make_member(world.organisation, "bob"), CloseCode.NOT_FOUND),
            (make_member(world.organisation, "carol", Role.ADMIN), CloseCode.NOT_FOUND),
            (make_member(elsewhere, "charlie", Role.ADMIN), CloseCode.NOT_FOUND),
            (None, CloseCode.SIGNED_OUT),
        ]

    for person, code in await scoped(people)():
        page = await Page.of(running, person)
        assert await page.until_closed() == code
        await page.type(b"id\n")
        await page.leave()
        assert (page.seen, page.told) == (b"", {})
    assert await scoped(audit_log)() == []
    with acting(platform()), pytest.raises(NotFound):
        await scoped(reach.exec)(platform(), running, ("true",))


@pytest.mark.programs
@pytest.mark.parametrize(("rank", "code"), [(2, CloseCode.NOT_FOUND), ("x", CloseCode.BAD_ADDRESS), ("-1", 4400)])
async def test_a_rank_that_there_is_not(running: Workload, world: World, rank: Any, code: int) -> None:
    page = await Page.of(running, world.alice, rank)
    assert await page.until_closed() == code
    await page.leave()
    assert await scoped(sessions._open_count)(world.alice.pk) == 0


async def test_what_does_not_run_says_so(queued: Workload, world: World) -> None:
    page = await Page.of(queued, world.alice)
    assert await page.until_closed() == CloseCode.NOT_RUNNING
    await page.leave()
    assert await scoped(sessions._open_count)(world.alice.pk) == 0


@pytest.mark.programs
async def test_the_end_of_the_member_ends_the_terminal(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice, 1)
    await page.type(b"echo re''ady\n")
    await page.until_printed("ready")
    await scoped(lambda: [end(member) for member in Member.objects.exclude(handle=None)])()
    assert await page.until_closed() == CloseCode.ENDED
    await page.leave()
    assert (await scoped(audit_log)())[-1][1]["why"] == "program"


@pytest.mark.programs
@pytest.mark.parametrize("ending", [*endings.OF_A_SESSION, endings.frozen])
async def test_a_right_that_ends_takes_the_terminal_with_it(
    running: Workload, world: World, ending: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants, "RECHECK_S", 0.2)
    browser = await browser_of(world.alice)
    page = Page(await opened(browser, f"/ws/terminals/{running.pk}/?rank=0"))
    await page.type(b"echo re''ady; sleep 54321\n")
    await page.until_printed("ready\r")
    await scoped(ending)(Holder(world.alice, world.organisation, browser.session.session_key or ""))
    assert await page.until_closed() in {CloseCode.DENIED, CloseCode.NOT_FOUND, CloseCode.SIGNED_OUT}
    await page.leave()
    assert (await scoped(audit_log)())[-1][1]["why"] == "right ended"
    assert await scoped(sessions._open_count)(world.alice.pk) == 0


@pytest.mark.programs
async def test_a_page_that_goes_away_ends_what_it_ran(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice)
    await page.type(b"echo re''ady; sleep 54321\n")
    await page.until_printed("ready")
    await page.leave()
    again = await Page.of(running, world.alice)
    await again.type(b"while grep -qs 5432[1] /proc/[0-9]*/cmdline; do sleep 0.1; done; echo g''one\n")
    await again.until_printed("gone\r")
    await again.leave()
    assert [what for what, _after in await scoped(audit_log)()] == ["terminal.opened", "terminal.closed"] * 2


@pytest.mark.programs
async def test_so_many_and_no_more(running: Workload, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_PER_PERSON", 1)
    first = await Page.of(running, world.alice)
    await first.until(lambda page: "open" in page.told)
    second = await Page.of(running, world.alice, 1)
    assert await second.until_closed() == CloseCode.TOO_MANY
    await second.leave()
    await first.leave()
    third = await Page.of(running, world.alice)
    await third.until(lambda page: "open" in page.told)
    await third.leave()


@pytest.mark.programs
async def test_one_that_nobody_uses_is_closed(running: Workload, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "KEEP_S", 0.01)
    monkeypatch.setattr(consumers, "IDLE_S", 0.1)
    page = await Page.of(running, world.alice)
    assert await page.until_closed() == CloseCode.IDLE
    await page.leave()
    assert (await scoped(audit_log)())[-1][1]["why"] == "idle"


@pytest.mark.programs
async def test_its_use_is_known_to_who_asks_whether_work_is_idle(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice)
    await page.until(lambda page: "open" in page.told)
    use = (await scoped(activity.latest_use)([running.pk]))[running.pk]
    assert use.connections == {Source.TERMINAL: 1}
    await page.leave()
    use = (await scoped(activity.latest_use)([running.pk]))[running.pk]
    assert use.connections == {}
