"""Contract: commands and terminals inside a running workload."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.streams import ExecStream
from apps.workloads.readiness import cancel
from apps.workloads.terminal.pump import READ_BYTES, WINDOW, TerminalPump
from tests.drivers.kit import MIB, Kit

WAITS = "import time; print('ready'); time.sleep(600)"


class ExecContract:
    @pytest.fixture
    def host(self, kit: Kit) -> Iterator[Handle]:
        """A workload to look into."""
        handle = kit.launch(kit.python(WAITS, env={"MARK": "seen"}))
        kit.wait_output(handle, "ready")
        yield handle
        kit.driver.stop(handle, 0)
        kit.wait(handle)

    @staticmethod
    def everything(stream: ExecStream) -> tuple[bytes, bytes, int | None]:
        stream.close_input()
        output = b"".join(iter(stream.read, b""))
        errors = b"".join(iter(stream.read_error, b""))
        code = stream.wait(60)
        stream.close()
        return output, errors, code

    def test_output_and_errors_are_apart(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", "echo out; echo err >&2; exit 7"])
        assert stream.error_fileno() is not None
        assert self.everything(stream) == (b"out\n", b"err\n", 7)

    def test_input_ends_alone_and_the_process_goes_on(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", "cat; sleep 0.3; echo later; exit 3"])
        stream.write(b"first ")
        assert self.everything(stream) == (b"first later\n", b"", 3)

    def test_a_signal_is_told_as_such(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sleep", "60"])
        assert stream.wait(0.1) is None
        stream.signal(signal.SIGTERM)
        assert stream.wait(60) == -signal.SIGTERM
        stream.signal(signal.SIGTERM)
        assert stream.close() == -signal.SIGTERM

    def test_closing_ends_it(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sleep", "61"])
        assert stream.close() == -signal.SIGKILL

    def test_it_has_the_workloads_environment_and_more(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", 'echo "$MARK $EXTRA"; ls data; pwd'], env={"EXTRA": "你好"})
        (kit.code / "data").write_text("")
        output, _, _ = self.everything(stream)
        words = output.decode().split()
        assert words[:2] == ["seen", "你好"]
        assert words[-1].endswith("code")

    def test_bytes_pass_unchanged_in_bulk(self, kit: Kit, host: Handle) -> None:
        sent = os.urandom(4 * MIB)
        stream = kit.driver.exec(host, ["cat"])
        assert asyncio.run(exchange(stream, sent)) == sent
        assert stream.wait(60) == 0
        stream.close()

    def test_the_end_is_told_while_others_hold_the_output(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", "sleep 30 & exit 4"])
        assert stream.wait(60) == 4
        stream.close()

    def test_output_that_it_closes_ends_while_it_lives(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", "echo all; exec >&-; sleep 30"])
        assert b"".join(iter(stream.read, b"")) == b"all\n"
        assert stream.wait(0) is None
        stream.close()

    def test_a_terminals_input_ends_with_its_character(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["cat"], tty=True)
        stream.write(b"line\n")
        stream.close_input()
        output = b"".join(iter(stream.read, b""))
        assert output.replace(b"\r\n", b"\n").startswith(b"line\nline\n")
        assert (stream.error_fileno(), stream.read_error()) == (None, b"")
        assert stream.wait(60) == 0
        stream.close()

    def test_a_page_draws_a_terminal_and_holds_up_its_program(self, kit: Kit, host: Handle) -> None:
        script = (
            'until [ "$(stty size)" = "33 101" ]; do sleep 0.1; done; read line; echo "got $line"; '
            "yes | head -c 600000; exit 5"
        )
        stream = kit.driver.exec(host, ["sh", "-c", script], tty=True)
        seen, waited = asyncio.run(asyncio.wait_for(carried(stream), 60))
        assert "got 中文\r\n".encode() in seen
        assert seen.count(b"y\r\n") == 300000
        assert WINDOW <= waited < WINDOW + READ_BYTES, "the page had drawn nothing yet"
        assert stream.wait(60) == 5
        stream.close()

    def test_a_page_that_goes_away_hangs_up(self, kit: Kit, host: Handle) -> None:
        stream = kit.driver.exec(host, ["sh", "-c", "echo up; sleep 60"], tty=True)
        asyncio.run(asyncio.wait_for(left(stream), 60))
        assert stream.wait(60) == -signal.SIGHUP
        stream.close()

    def test_jobs_of_a_page_that_goes_away_are_hung_up_too(self, kit: Kit, host: Handle) -> None:
        """Whichever is in front at that moment; what ignores it, as below nohup, lives on."""
        mark = 10**9 + os.getpid() * 10
        jobs = f"set -m; trap '' HUP; sleep {mark + 1} & trap - HUP; sleep {mark + 2} & echo up; sleep 60"
        stream = kit.driver.exec(host, ["sh", "-c", jobs], tty=True)
        asyncio.run(asyncio.wait_for(left(stream), 60))
        stream.close()
        there = f"grep -qs {mark // 10}[{{}}] /proc/[0-9]*/cmdline"
        look = f"while {there.format(2)}; do sleep 0.05; done; {there.format(1)}"
        looks = kit.driver.exec(host, ["sh", "-c", look])
        assert looks.wait(60) == 0
        looks.close()

    def test_a_job_that_is_just_starting_is_hung_up_too(self, kit: Kit, host: Handle) -> None:
        """Until it is its own program, it is a copy of the shell that keeps the signal for itself, as of bash."""
        mark = 10**9 + os.getpid() * 10 + 3
        copy = (
            "import os, signal, time; heard = []; signal.signal(signal.SIGHUP, lambda *_: heard.append(1))\n"
            "if os.fork(): signal.signal(signal.SIGHUP, signal.SIG_DFL); print('up', flush=True); os.wait()\n"
            f"while not heard: time.sleep(0.01)\nos.execlp('sleep', 'sleep', '{mark}')"
        )
        stream = kit.driver.exec(host, ["python", "-c", copy], tty=True)
        asyncio.run(asyncio.wait_for(left(stream), 60))
        stream.close()
        look = f"while grep -qs {mark // 10}[{mark % 10}] /proc/[0-9]*/cmdline; do sleep 0.05; done"
        looks = kit.driver.exec(host, ["sh", "-c", look])
        assert looks.wait(60) == 0
        looks.close()

    def test_too_many_are_refused_in_words(self, kit: Kit, host: Handle) -> None:
        with ExitStack() as stack:
            for _ in range(64):
                stack.callback(kit.driver.exec(host, ["sleep", "600"]).close)
            with pytest.raises(DriverError, match="at most 64"):
                kit.driver.exec(host, ["true"])
        stream = kit.driver.exec(host, ["true"])
        assert self.everything(stream)[2] == 0


async def carried(stream: ExecStream) -> tuple[bytes, int]:
    """What a page sees, and how much had come before it drew anything."""
    seen, held = bytearray(), [0]

    async def draw(data: bytes) -> None:
        seen.extend(data)
        if held[0] or len(seen) >= WINDOW:
            held[0] = held[0] or len(seen)
            pump.acknowledge(len(seen))

    async def taken(_total: int) -> None:
        return None

    pump = TerminalPump(stream, draw, taken)
    pump.resize(101, 33)
    assert pump.put("中文\n".encode())
    await pump.run()
    return bytes(seen), held[0]


async def left(stream: ExecStream) -> None:
    up = asyncio.Event()

    async def draw(_data: bytes) -> None:
        up.set()

    async def taken(_total: int) -> None:
        return None

    carrying = asyncio.create_task(TerminalPump(stream, draw, taken).run())
    await up.wait()
    await cancel(carrying)


async def exchange(stream: ExecStream, sent: bytes) -> bytes:
    """What comes back while `sent` is written, by one thread that blocks on neither."""
    loop = asyncio.get_running_loop()
    for descriptor in (stream.fileno(), stream.input_fileno()):
        os.set_blocking(descriptor, False)
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(stream.fileno()), "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    received = asyncio.create_task(reader.read())
    left = memoryview(sent)
    while left:
        try:
            left = left[os.write(stream.input_fileno(), left[:65536]) :]
        except BlockingIOError:
            await asyncio.sleep(0.001)
    stream.close_input()
    return await received
