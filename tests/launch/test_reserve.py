"""The room kept for the database, on a small file system of its own."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plstack.launch.files import rotate_log
from plstack.launch.reserve import BALLAST_FILES, Reserve

MIB = 2**20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    command = ["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=3000", "none", str(tmp_path)]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def reserve(disk: Path, said: list[str]) -> Reserve:
    return Reserve(disk / "reserve", said.append)


def fill(path: Path) -> None:
    with open(path, "wb", buffering=0) as file:
        for step in (MIB, 4096):
            try:
                while file.write(b"x" * step):
                    pass
            except OSError:
                continue


def free(disk: Path) -> int:
    seen = os.statvfs(disk)
    return seen.f_bavail * seen.f_frsize


def test_room_is_kept_given_up_when_the_disk_is_full_and_kept_again(
    disk: Path, reserve: Reserve, said: list[str]
) -> None:
    reserve.tick()
    kept = 64 * MIB - free(disk)
    assert kept >= 1.8 * MIB
    fill(disk / "others")
    assert free(disk) == 0
    reserve.tick()
    assert free(disk) >= 1.8 * MIB
    reserve.tick()
    assert [line.partition(". ")[2] for line in said] == ["The database goes on with the room kept for it."]
    (disk / "others").unlink()
    reserve.tick()
    assert 64 * MIB - free(disk) == kept
    assert said[1:] == [f"The disk that holds {disk} has room again. Some of it is kept for the database."]


def test_inodes_are_kept_too(disk: Path, reserve: Reserve) -> None:
    reserve.tick()
    (disk / "many").mkdir()
    try:
        for number in range(5000):
            (disk / "many" / str(number)).touch()
    except OSError:
        pass
    assert os.statvfs(disk).f_favail == 0
    reserve.tick()
    assert os.statvfs(disk).f_favail >= BALLAST_FILES


def test_what_cannot_be_kept_is_no_half_reserve(disk: Path, reserve: Reserve, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    reserve.tick()
    assert list(disk.iterdir()) == []


def test_a_long_log_is_emptied_where_there_is_no_room_for_its_copy(disk: Path) -> None:
    log = disk / "web.log"
    log.write_bytes(b"x" * 40 * MIB)
    rotate_log(log, 10 * MIB)
    assert log.stat().st_size == 0
    assert not (disk / "web.log.1").exists()
