"""Times of a log: beside it, sparse, bounded, and never in its way."""

import errno
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.base import LogTime
from apps.workloads.drivers.local import log_times
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.log_times import ENTRY, EVERY_S, LogTimes, read_times
from apps.workloads.drivers.local.masking import Masker, patterns
from apps.workloads.drivers.local.records import RunDirectory

BEGAN = 1_795_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.integers(1, 500), st.floats(0, 0.2)), max_size=60), st.data())
def test_a_byte_has_the_time_at_which_it_was_stored(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, float]], data: st.DataObject
) -> None:
    path, clock = tmp_path_factory.mktemp("times") / "log.times", Clock()
    times, offset, stored = LogTimes(path, clock, now=lambda: BEGAN), 0, list[tuple[int, float]]()
    for size, pause in steps:
        times.mark(offset)
        stored.append((offset, BEGAN + clock.now - 100.0))
        offset, clock.now = offset + size, clock.now + pause
    if not stored:
        return
    byte = data.draw(st.integers(0, offset - 1))
    found = read_times(path, byte, byte + 1)
    really = max(at for start, at in stored if start <= byte)
    assert len(found) == 1
    assert really - EVERY_S - 0.002 <= found[0].unix_ms / 1000 <= really + 0.002
    assert found[0].offset <= byte


def test_the_file_is_bounded_and_keeps_what_it_can(tmp_path: Path) -> None:
    path, clock = tmp_path / "log.times", Clock()
    times = LogTimes(path, clock, now=lambda: BEGAN, most=100)
    for number in range(10_000):
        times.mark(number * 10)
        clock.now += 0.1
        assert path.stat().st_size <= 100 * ENTRY.size
    found = read_times(path, 0, 100_000)
    assert len(found) > 40
    assert found[0] == LogTime(0, int(BEGAN * 1000))
    gaps = [after.unix_ms - before.unix_ms for before, after in pairwise(found)]
    assert max(gaps) < 60_000
    for offset, unix_ms in found:
        assert abs(unix_ms - BEGAN * 1000 - offset * 10) <= 1


def test_many_times_are_thinned_for_one_answer(tmp_path: Path) -> None:
    path, clock = tmp_path / "log.times", Clock()
    times = LogTimes(path, clock)
    for number in range(1000):
        times.mark(number)
        clock.now += 1
    found = read_times(path, 0, 1000, most=100)
    assert 90 <= len(found) <= 100
    assert found[0].offset == 0
    assert [one.offset for one in read_times(path, 500, 503)] == [500, 501, 502]


def test_a_log_of_before_has_no_times(tmp_path: Path) -> None:
    assert read_times(tmp_path / "log.times", 0, 100) == ()


def test_half_an_entry_is_none_and_the_next_one_takes_its_place(tmp_path: Path) -> None:
    path, clock = tmp_path / "log.times", Clock()
    LogTimes(path, clock).mark(0)
    with path.open("ab") as file:
        file.write(b"\x01\x02\x03")
    assert len(read_times(path, 0, 100)) == 1
    clock.now += 1
    LogTimes(path, clock).mark(7)
    assert [one.offset for one in read_times(path, 0, 100)] == [0, 7]


def test_a_full_disk_costs_times_and_no_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(RunDirectory(tmp_path))
    real = os.pwrite

    def full(descriptor: int, data: Any, offset: int) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(log_times.os, "pwrite", full)
    journal.append(b"one\n")
    monkeypatch.setattr(log_times.os, "pwrite", real)
    journal.append(b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"
    assert [one.offset for one in read_times(tmp_path / "log.times", 0, 8)] == [4]


def test_masked_bytes_are_measured_as_they_are_stored(tmp_path: Path) -> None:
    clock = Clock()
    journal = Journal(RunDirectory(tmp_path), clock)
    journal.masker = Masker(patterns(["hunter2-and-more"]))
    for part in (b"password hun", b"ter2-and-more\n", b"next\n"):
        journal.append(part)
        clock.now += 1
    stored = (tmp_path / "log").read_bytes()
    assert stored == b"password ***\nnext\n"
    assert [one.offset for one in read_times(tmp_path / "log.times", 0, 100)] == [0, 9, stored.index(b"next")]
