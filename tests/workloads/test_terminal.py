"""Terminals in running programs: a real shell in the real driver's sandbox, through the socket that pages open."""

import hashlib
import os

import pytest

from apps.audit.models import Entry
from apps.tenants.sockets import CloseCode
from apps.workloads import selectors
from apps.workloads.models import Workload
from apps.workloads.terminal import pump
from tests.builders import World
from tests.drivers.kit import eventually
from tests.workloads.terminals import FACTS, Page, audit_log, scoped
from tests.workloads.terminals import queued as queued
from tests.workloads.terminals import running as running
from tests.workloads.terminals import world as world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.programs
async def test_a_shell_beside_the_program_of_each_rank(running: Workload, world: World) -> None:
    for rank in (0, 1):
        page = await Page.of(running, world.alice, rank)
        await page.socket.send_json_to({"resize": [101, 33]})
        await page.type("echo rank-$PLSTACK_RANK-$MARK-$((6*7)); echo 中文; tty\n".encode())
        await page.until_printed(f"rank-{rank}-inside-42")
        await page.until_printed("\r\n中文\r\n")
        # A size is told beside what is typed, and may come later.
        await page.type(b'until [ "$(stty size)" = "33 101" ]; do sleep 0.1; done; stty size; exit 3\n')
        assert await page.until_closed() == 1000
        assert b"\r33 101\r\n" in page.seen
        assert (page.told["open"], page.told["exit"]) == (rank, 3)
        await page.leave()
    (first, opened_), (last, closed) = (await scoped(audit_log)())[2:]
    assert (first, opened_, last) == ("terminal.opened", {"rank": 1}, "terminal.closed")
    assert (closed["why"], closed["exit_code"], type(closed["seconds"])) == ("shell", 3, int)
    entry = await scoped(Entry.objects.filter(action="terminal.opened").latest)("pk")
    assert (entry.actor_id, entry.organisation_id, entry.target_id) == (
        world.alice.pk,
        world.organisation.pk,
        str(running.pk),
    )


@pytest.mark.programs
async def test_it_is_inside_the_sandbox_of_the_program(running: Workload, world: World) -> None:
    def program_facts() -> str:
        attempt = selectors.current_attempt(running)
        member = selectors.program(attempt, 1)
        lines = eventually(
            lambda: selectors.log_chunk(member).data.decode(), lambda data: "facts " in data[: data.rfind("\n") + 1]
        )
        return next(line for line in lines.splitlines() if line.startswith("facts "))

    facts = await scoped(program_facts)()
    assert os.readlink("/proc/self/ns/mnt") not in facts
    page = await Page.of(running, world.alice, 1)
    await page.type(f"stty cols 500; python -c '{FACTS}'; echo d''one\n".encode())
    await page.until_printed("\r\ndone")
    assert facts in page.seen.decode()
    await page.leave()


@pytest.mark.programs
async def test_control_c_interrupts_what_the_shell_runs(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice)
    await page.type(b'sh -c \'trap "echo inter"rupted INT; echo be""gins; while :; do sleep 0.1; done\'\n')
    await page.until_printed("begins\r")
    await page.type(b"\x03")
    await page.until_printed("interrupted\r")
    await page.leave()


@pytest.mark.programs
async def test_a_flood_of_output_waits_for_the_page(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice)
    await page.type(b"yes flood | head -c 2000000; echo af''ter\n")
    await page.until(lambda page: len(page.seen) >= pump.WINDOW, draws=False)
    assert len(page.seen) < pump.WINDOW + pump.READ_BYTES
    assert await page.socket.receive_nothing(0.3)
    await page.socket.send_json_to({"drawn": len(page.seen)})
    await page.until_printed("after\r")
    assert page.seen.count(b"flood\r\n") == 2000000 // len("flood\n")
    await page.leave()


@pytest.mark.programs
async def test_a_paste_of_a_megabyte_arrives_whole(running: Workload, world: World) -> None:
    page, piece, count = await Page.of(running, world.alice), b"0123456789abcde\n" * 2048, 32
    await page.type(b"stty -echo; echo re''ady; head -c 1048576 | sha256sum; stty echo\n")
    await page.until_printed("ready")
    before = page.told.get("taken", 0)
    for number in range(1, count + 1):
        await page.type(piece)
        wanted = before + number * len(piece) - 65536
        await page.until(lambda page, wanted=wanted: page.told.get("taken", 0) >= wanted)  # type: ignore[misc]
    await page.until_printed(hashlib.sha256(piece * count).hexdigest())
    await page.leave()


@pytest.mark.programs
async def test_who_sends_without_waiting_is_cut_off(running: Workload, world: World) -> None:
    page = await Page.of(running, world.alice)
    await page.type(b"stty raw -echo; echo re''ady; sleep 500\n")
    await page.until_printed("ready")
    for _piece in range(pump.MOST_INPUT // 32768 + 4):
        await page.type(b"x" * 32768)
    assert await page.until_closed() == CloseCode.TOO_LARGE
    await page.leave()
    assert (await scoped(audit_log)())[-1][1]["why"] == "flood"
