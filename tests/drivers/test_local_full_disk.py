"""The local driver on a disk that is full: who fills it ends, everybody else goes on, and every end is recorded."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workloads.drivers.base import ExitReason, Handle, IsolationLevel, Phase
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.disk_usage import Count
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.said import Code, Said
from tests.drivers.kit import VOLUMES, Kit, eventually
from tests.searching import examples

MIB = 1024 * 1024
# Each takes what it can and goes on when there is no more, as a program does that catches its errors.
FILLS_TMP = """
import tempfile, time
file = open(tempfile.gettempdir() + "/large", "wb", buffering=0)
while True:
    try:
        file.write(b"x" * 2**19)
        time.sleep(.02)
    except OSError:
        time.sleep(.1)
"""
FILLS_UNSEEN = FILLS_TMP.replace('open(tempfile.gettempdir() + "/large", "wb", ', "tempfile.TemporaryFile(")
FILLS_OUTPUT = FILLS_TMP.replace("tempfile.gettempdir()", "'/workspace/output'")
FILLS_INODES = """
import os, tempfile, time
os.chdir(tempfile.mkdtemp())
n = 0
while True:
    try:
        os.mkdir(str(n))
        n += 1
    except OSError:
        time.sleep(.1)
"""
FLOODS = "while True: print('x' * 1023)"
BYSTANDER = """
import tempfile, time
open(tempfile.gettempdir() + "/own", "wb").write(b"x" * 2**18)
for n in range(3600):
    print(n, flush=True)
    time.sleep(.1)
"""
COUNTS_WHEN_TOLD = """
import os, time
while not os.path.exists("go"):
    time.sleep(.05)
for n in range(60000):
    print(f"{n:063d}")
"""
Mounted = Callable[..., Kit]


@pytest.fixture
def mounted(home: Path, tmp_path: Path, isolated: Kit) -> Iterator[Mounted]:
    """Makes a kit whose home, with the folders that its workloads write, is a small file system of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    isolated.wait(isolated.launch(isolated.request("true")))
    place = tmp_path / "small"
    place.mkdir()
    made: list[Kit] = []

    def make(kind: str = "tmpfs", options: str = "size=48m") -> Kit:
        if _mount(kind, options, place, tmp_path).returncode:
            pytest.skip(f"mounting {kind} is not allowed here")
        (place / "runtimes").symlink_to(home / "runtimes")
        (place / "output").mkdir()
        made.append(Kit(LocalDriver(place, IsolationLevel.L1, False, volumes=VOLUMES), isolated.code, place / "output"))
        return made[0]

    yield make
    for kit in made:
        for ref in kit.driver.known():
            processes.end_marked(MARKER, ref, 5)
        subprocess.run(["umount", "-l", str(place)], check=True)


def _mount(kind: str, options: str, place: Path, scratch: Path) -> "subprocess.CompletedProcess[bytes]":
    if kind == "tmpfs":
        return subprocess.run(["mount", "-t", "tmpfs", "-o", f"{options},mode=755", "none", str(place)], check=False)
    image = scratch / "image"
    image.touch()
    os.truncate(image, 64 * MIB)
    made = subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=False)
    return made if made.returncode else subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=False)


def free(kit: Kit) -> int:
    return shutil.disk_usage(kit.output).free


def bystander(kit: Kit) -> Handle:
    handle = kit.launch(kit.python(BYSTANDER))
    kit.wait_output(handle, "2\n")
    return handle


def goes_on(kit: Kit, handle: Handle) -> None:
    before = kit.driver.logs(handle, 0, MIB).next_offset
    eventually(lambda: kit.driver.logs(handle, 0, MIB).next_offset, lambda after: after > before)
    assert kit.driver.observe(handle).phase is Phase.RUNNING


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
@pytest.mark.parametrize("source", [FILLS_TMP, FILLS_UNSEEN, FLOODS], ids=["tmp", "deleted but open", "log"])
def test_who_fills_the_disk_ends_and_the_others_go_on(mounted: Mounted, kind: str, source: str) -> None:
    kit = mounted(kind)
    other = bystander(kit)
    filler = kit.launch(kit.python(source))
    ended = kit.wait_exit(filler)
    assert (ended.reason, ended.said) == (ExitReason.DISK_FULL, Said(Code.DISK_FULL))
    goes_on(kit, other)
    if source is not FLOODS:  # a log is kept
        assert free(kit) > 30 * MIB
        assert not (kit.output.parent / "runs" / filler.ref / "tmp").exists()


def test_who_takes_all_inodes_ends_and_the_others_go_on(mounted: Mounted) -> None:
    kit = mounted(options="size=48m,nr_inodes=3000")
    other = bystander(kit)
    ended = kit.wait_exit(kit.launch(kit.python(FILLS_INODES)))
    assert (ended.reason, ended.said) == (ExitReason.DISK_FULL, Said(Code.DISK_FULL_OF_FILES))
    assert os.statvfs(kit.output).f_ffree > 2000
    goes_on(kit, other)


@pytest.mark.parametrize(("kind", "limit_mib"), [("tmpfs", 1024), ("ext4", None)], ids=["output", "shared volume"])
def test_what_fills_its_mount_ends_alone_although_its_files_are_kept(
    mounted: Mounted, kind: str, limit_mib: int | None
) -> None:
    kit = mounted(kind)
    other = bystander(kit)
    mount = kit.mount(kit.output, "/workspace/output", False, limit_mib)
    ended = kit.wait_exit(kit.launch(kit.python(FILLS_OUTPUT, mounts=(mount,), workdir="/workspace")))
    assert ended.reason is ExitReason.DISK_FULL
    assert (kit.output / "large").stat().st_size > 30 * MIB
    time.sleep(2)
    assert kit.driver.observe(other).phase is Phase.RUNNING


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_an_end_is_recorded_where_not_a_byte_is_left(mounted: Mounted, kind: str) -> None:
    kit = mounted(kind)
    handle = kit.launch(kit.python("import sys; sys.stdin.read(); import time; print('ready'); time.sleep(3)"))
    kit.wait_output(handle, "ready")
    _fill(kit)
    ended = kit.wait_exit(handle)
    assert (ended.reason, ended.code) == (ExitReason.EXITED, 0)
    assert free(kit) < MIB


def test_what_somebody_else_fills_ends_nobody_and_leaves_no_hole_in_a_log(mounted: Mounted) -> None:
    kit = mounted()
    handle = kit.launch(kit.python(COUNTS_WHEN_TOLD, env={"PYTHONUNBUFFERED": ""}))
    kit.wait(handle, lambda seen: seen.phase is Phase.RUNNING)
    ballast = _fill(kit)
    (kit.code / "go").mkdir()
    time.sleep(2.5)
    assert kit.driver.observe(handle).phase is Phase.RUNNING
    ballast.unlink()
    assert kit.wait_exit(handle).succeeded
    assert kit.text(handle).split() == [f"{n:063d}" for n in range(60000)]


def test_a_stop_is_obeyed_where_output_waits_for_room(mounted: Mounted) -> None:
    kit = mounted()
    handle = kit.launch(kit.python("import time\nwhile True: print('x' * 63); time.sleep(.001)"))
    kit.wait_output(handle, "x")
    _fill(kit)
    kit.driver.stop(handle, 1)
    assert kit.wait_exit(handle).reason is ExitReason.STOPPED


def _fill(kit: Kit) -> Path:
    """To the last byte, by somebody who is no workload."""
    ballast = kit.output.parent / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for step in (MIB, 4096, 1):
            try:
                while file.write(b"x" * step):
                    pass
            except OSError:
                continue
    return ballast


def test_a_file_beyond_all_limits_cannot_even_be_begun(isolated: Kit) -> None:
    source = "import os, tempfile; file = tempfile.TemporaryFile(); os.truncate(file.fileno(), {})"
    mounts = (isolated.mount(isolated.output, "/workspace/output", False, limit_mib=1024),)
    for size, succeeds in ((1024 * MIB, True), (60 * 1024 * MIB, False)):
        ended, text = isolated.run(isolated.python(source.format(size), mounts=mounts, workdir="/workspace"))
        assert ended.succeeded is succeeds, text
    assert "File too large" in text


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40_000), st.sampled_from("fshl")), max_size=25))
@settings(max_examples=examples(100), deadline=None)
def test_what_is_counted_is_what_the_file_system_counts(plan: list[tuple[int, int, str]]) -> None:
    """Files, sparse files, hard links and symbolic links, some levels deep, against du(1)."""
    with tempfile.TemporaryDirectory() as root:
        for number, (depth, size, kind) in enumerate(plan):
            folder = Path(root, *("d" for _ in range(depth)))
            folder.mkdir(parents=True, exist_ok=True)
            path, first = folder / str(number), Path(root, "first")
            first.touch()
            if kind == "h":
                os.link(first, path)
            elif kind == "l":
                path.symlink_to("/usr")
            else:
                path.write_bytes(b"x" * size)
                os.truncate(path, size + (MIB if kind == "s" else 0))
        count = Count(root)
        for _ in count.steps():
            pass
        told = subprocess.run(["du", "-sB1", root], capture_output=True, check=True)
        inodes = subprocess.run(["du", "-s", "--inodes", root], capture_output=True, check=True)
        assert count.size == int(told.stdout.split()[0])
        assert count.files == int(inodes.stdout.split()[0])


def test_a_shim_that_was_killed_leaves_no_seat(isolated: Kit, home: Path) -> None:
    handle = isolated.launch(isolated.python("import time; print('ready'); time.sleep(60)"))
    isolated.wait_output(handle, "ready")
    seat = home / "runs" / ".disk" / handle.ref
    assert seat.exists()
    processes.end_marked(MARKER, handle.ref, 5)
    isolated.wait(handle)
    assert not seat.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders to tenants")
def test_a_mount_of_deep_folders_is_refused_in_words_and_is_no_loss_of_the_machines(isolated: Kit) -> None:
    before = os.getcwd()
    os.chdir(isolated.output)
    try:
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
    ended, _ = isolated.run(isolated.request("true"))
    subprocess.run(["rm", "-rf", str(isolated.output / "d")], check=True)
    assert ended.reason is ExitReason.MOUNT_FAILED
