"""Contract: what can be seen of an attempt, and reached in it; and what is refused."""

import signal
import time
from dataclasses import replace
from typing import Any

import pytest

from apps.workloads.drivers.base import DriverError, LaunchRefused, LogChunk, Mount, Reference, RuntimeImage
from apps.workloads.drivers.capabilities import CleanupMixin, ImagesMixin, InventoryMixin, MetricsMixin, ReferencesMixin
from apps.workloads.drivers.request import DATA
from tests.drivers.kit import MIB, NODE, Kit, eventually

TORCH = Reference("registry.lab:5000/team/torch", f"sha256:{'0' * 64}")


class AccessContract:
    def test_log_offsets_are_bytes_and_exact(self, kit: Kit) -> None:
        handle = kit.launch(kit.python("print('añ中' * 3)"))
        kit.wait(handle)
        whole = kit.log(handle)
        assert kit.log(handle, limit=7) == whole
        end = kit.driver.logs(handle, len(whole), 10)
        assert (end.data, end.offset, end.next_offset, end.complete) == (b"", len(whole), len(whole), True)

    def test_a_log_says_how_long_it_is_and_when_its_bytes_were_stored(self, kit: Kit) -> None:
        source = (
            "import os, time\nprint('one', flush=True)\n"
            "while not os.path.exists(os.environ['PLSTACK_OUTPUT'] + '/go'): time.sleep(0.05)\nprint('two', flush=True)"
        )
        handle = kit.launch(kit.python(source))
        kit.wait_output(handle, "one")
        time.sleep(1)
        (kit.output / "go").touch()
        kit.wait(handle)
        chunk = kit.driver.logs(handle, 0, MIB)
        assert chunk.size == len(chunk.data)
        one, two = (self._stored(chunk, word) for word in (b"one", b"two"))
        assert 900 <= two - one < 30_000
        assert abs(two / 1000 - time.time()) < 300
        rest = kit.driver.logs(handle, chunk.data.index(b"two"), MIB)
        assert self._stored(rest, b"two") == two

    @staticmethod
    def _stored(chunk: LogChunk, word: bytes) -> int:
        """Unix milliseconds."""
        offset = chunk.offset + chunk.data.index(word)
        return max(at.unix_ms for at in chunk.times if at.offset <= offset)

    def test_a_long_log_has_no_hole(self, kit: Kit) -> None:
        lines = 20 * MIB // 64
        handle = kit.launch(kit.python(f"for n in range({lines}): print(f'{{n:063d}}')", env={"PYTHONUNBUFFERED": ""}))
        data = b""
        while not (chunk := kit.driver.logs(handle, len(data), MIB)).complete:
            data += chunk.data
        data += chunk.data
        numbers = [line for line in data.splitlines() if not line.startswith(b"[plstack]")]
        assert numbers == [b"%063d" % n for n in range(lines)]

    def test_standard_error_and_output_share_the_log_in_order(self, kit: Kit) -> None:
        source = "import sys\nfor n in range(50): print(n, file=(sys.stdout, sys.stderr)[n % 2], flush=True)"
        _, text = kit.run(kit.python(source))
        assert text.split() == [str(n) for n in range(50)]

    def test_output_streams_can_be_opened_anew(self, kit: Kit) -> None:
        ended, text = kit.run(kit.request("sh", "-c", "echo one; echo two > /dev/stderr; echo three > /dev/stdout"))
        assert ended.succeeded, text
        assert text == "one\ntwo\nthree\n"

    def test_usage_is_measured_while_it_runs(self, kit: Kit) -> None:
        measuring = kit.offers(MetricsMixin)
        source = (
            f"import time\nkeep = b'x' * {64 * MIB}\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
        )
        handle = kit.launch(kit.python(source))
        samples = eventually(
            lambda: measuring.metrics(handle),
            lambda found: len(found) >= 2 and found[-1].memory_mib >= 64 and found[-1].cpu_milli > 100,
        )
        assert [sample.at_s for sample in samples] == sorted({sample.at_s for sample in samples})
        assert max(sample.memory_mib for sample in samples) <= 200
        # Of all of them: what one has too much, because it was taken late, the next one has too little.
        spans = zip([0.0, *(sample.at_s for sample in samples)], samples, strict=False)
        assert sum(sample.cpu_milli * (sample.at_s - since) for since, sample in spans) <= 1500 * samples[-1].at_s
        assert all(sample.at_s > samples[0].at_s for sample in measuring.metrics(handle, samples[0].at_s))
        # The sample is written a moment before the heartbeat that counts it.
        seen = eventually(lambda: kit.driver.observe(handle), lambda found: found.ran_for_s >= samples[-1].at_s)
        assert seen.usage is not None
        assert seen.peak_memory_mib >= 64
        kit.driver.stop(handle, 0)
        assert kit.wait(handle).ran_for_s >= seen.ran_for_s

    def test_a_terminal_into_it(self, kit: Kit) -> None:
        handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)", env={"MARK": "seen"}))
        kit.wait_output(handle, "ready")
        stream = kit.driver.exec(handle, ["sh"], tty=True)
        stream.resize(40, 132)
        stream.write(b"stty size; echo $MARK-$((6*7)); exit 5\n")
        output = b""
        while data := stream.read():
            output += data
        assert b"40 132" in output
        assert b"seen-42" in output
        assert stream.close() == 5
        kit.driver.stop(handle, 0)
        kit.wait(handle)
        with pytest.raises(DriverError):
            kit.driver.exec(handle, ["true"])

    def test_a_command_into_it(self, kit: Kit) -> None:
        handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)"))
        kit.wait_output(handle, "ready")
        with pytest.raises(DriverError, match="no-such-program"):
            kit.driver.exec(handle, ["no-such-program"])
        stream = kit.driver.exec(handle, ["cat"])
        stream.write("你好".encode())
        assert stream.read().decode() == "你好"
        assert stream.close() in (0, -signal.SIGKILL)
        kit.driver.stop(handle, 0)
        kit.wait(handle)

    def test_it_listens_where_the_gateway_can_reach_it(self, kit: Kit) -> None:
        source = (
            "import os, socket, time\ns = socket.socket(socket.AF_UNIX)\n"
            "s.bind(os.environ['PLSTACK_PORTS'] + '/8888.sock'); s.listen(); print('ready'); s.accept(); time.sleep(60)"
        )
        handle = kit.launch(kit.python(source))
        with pytest.raises(DriverError):
            kit.driver.endpoint(handle, 9999)
        kit.wait_output(handle, "ready")
        kit.connect(handle, 8888).close()
        kit.driver.stop(handle, 0)
        kit.wait(handle)

    def test_the_inventory_names_what_was_launched(self, kit: Kit) -> None:
        inventory = kit.offers(InventoryMixin)
        handle = kit.launch(kit.request("true"))
        assert handle.ref in inventory.known(NODE)
        kit.wait(handle)
        assert handle.ref in inventory.known(NODE), "an ended attempt is known until it is forgotten"

    def test_an_image_is_ready_once_it_was_used(self, kit: Kit) -> None:
        images = kit.offers(ImagesMixin)
        kit.run(kit.request("true"))
        assert images.has_image(RuntimeImage("another name of it"))
        assert not images.has_image(RuntimeImage("never made", ("no-such-package==1",)))

    def test_forget_removes_an_ended_attempt_only(self, kit: Kit) -> None:
        cleanup = kit.offers(CleanupMixin)
        handle = kit.launch(kit.python("import time; print('ready'); time.sleep(60)"))
        kit.wait_output(handle, "ready")
        with pytest.raises(DriverError):
            cleanup.forget(handle)
        kit.driver.stop(handle, 0)
        kit.wait(handle)
        cleanup.forget(handle)
        cleanup.forget(handle)
        assert not kit.is_recorded(handle.ref)

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"argv": ()}, "no_command"),
            ({"image": TORCH}, "image_unsupported"),
            ({"argv": ("echo", "a\0b")}, "bad_text"),
            ({"cpu_milli": 0}, "bad_resources"),
            ({"memory_mib": 0}, "bad_resources"),
            ({"env": {"A=B": "x"}}, "bad_variable"),
            ({"workdir": "relative"}, "bad_workdir"),
            ({"workdir": "/workspace/../etc"}, "bad_workdir"),
            ({"mounts": (Mount(DATA, "a", "/etc", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "a", "/", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "/a", "/workspace", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "a/../../etc", "/workspace", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "..", "/workspace", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "", "/workspace", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount("no-such-volume", "a", "/workspace", read_only=False),)}, "bad_mount"),
            ({"mounts": (Mount(DATA, "a", "/workspace", False), Mount(DATA, "b", "/workspace", False))}, "bad_mount"),
        ],
    )
    def test_what_can_never_start_is_refused(self, kit: Kit, changes: dict[str, Any], code: str) -> None:
        if "image" in changes and isinstance(kit.driver, ReferencesMixin):
            pytest.skip("the driver runs container images")
        request = kit.request("true", **changes) if "argv" not in changes else replace(kit.request("true"), **changes)
        with pytest.raises(LaunchRefused) as refusal:
            kit.launch(request)
        assert refusal.value.code == code
        assert not kit.is_recorded(str(request.attempt_id))
