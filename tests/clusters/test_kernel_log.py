"""The kernel's log is read as it is kept: record by record, the kernel's own ones only, gaps and storms included."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from apps.clusters import kernel_log
from apps.clusters.kernel_log import MOST_FAULTS, CardFaults, Unread

STARTED = 1_760_000_000.0
FELL = "NVRM: Xid (PCI:0000:01:00): 79, pid=1, name=python, GPU has fallen off the bus."


def reading(*records: bytes | OSError) -> Callable[[], bytes]:
    """One record after the other, then the end as a log that is read without waiting has it."""
    left: Iterator[bytes | OSError] = iter(records)

    def read() -> bytes:
        record = next(left, BlockingIOError())
        if isinstance(record, OSError):
            raise record
        return record

    return read


def faults(*records: bytes | OSError) -> list[tuple[int, int]]:
    found = kernel_log.collect(kernel_log.records(reading(*records)), STARTED)
    return [(fault.code, fault.last_usec) for fault in found]


def record(text: str, usec: int = 5, priority: int = 4) -> bytes:
    return f"{priority},339,{usec},-;{text}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n".encode()


def test_records_are_read_to_the_newest() -> None:
    assert faults(record("Booting Linux"), record(FELL, usec=5_140_900)) == [(79, 5_140_900)]


def test_what_the_ring_lost_in_between_ends_nothing() -> None:
    assert faults(BrokenPipeError(), record(FELL), BrokenPipeError(), record("later")) == [(79, 5)]


def test_a_program_that_writes_such_a_line_forges_nothing() -> None:
    assert faults(record(FELL, priority=12)) == []


def test_nonsense_is_passed_over() -> None:
    assert faults(b"", record(FELL)) == []
    assert faults(b"\xff\xfe;\xff", b"4,one,5,-;x", record(FELL)) == [(79, 5)]


def test_a_storm_is_one_fault_with_its_first_and_its_last_time() -> None:
    line = "NVRM: Xid (PCI:0000:01:00): 31, pid=7, name=python, Ch {}"
    log = kernel_log.records(reading(*(record(line.format(n), usec=n * 1_000_000) for n in range(1, 1000))))
    (fault,) = kernel_log.collect(log, STARTED)
    assert (fault.at, fault.last_at) == (STARTED + 1, STARTED + 999)
    assert fault.text == "Ch 999"


def test_of_too_many_the_fatal_ones_stay() -> None:
    line = "NVRM: Xid (PCI:0000:01:00): 13, pid={}, name=python, Graphics Exception"
    crowd = [record(line.format(n), usec=10 + n) for n in range(1, MOST_FAULTS + 50)]
    found = faults(record(FELL, usec=1), *crowd)
    assert len(found) == MOST_FAULTS
    assert found[0] == (79, 1)
    assert found[-1] == (13, 10 + MOST_FAULTS + 49)


def test_without_a_log_or_the_right_to_it_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernel_log.card_faults(tmp_path / "kmsg") == CardFaults(unread=Unread.ABSENT)
    assert kernel_log.card_faults(tmp_path) == CardFaults(unread=Unread.FAILED)

    def refuse(*_arguments: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    assert kernel_log.card_faults() == CardFaults(unread=Unread.DENIED)


def test_this_machines_own_log_is_read_or_it_is_told_why_not() -> None:
    found = kernel_log.card_faults()
    assert found.unread in ("", *Unread)
    if os.access(kernel_log.KMSG, os.R_OK) and os.geteuid() == 0:
        assert found.unread in ("", Unread.DENIED)


def test_each_start_of_the_machine_has_an_id(tmp_path: Path) -> None:
    told = tmp_path / "boot_id"
    assert kernel_log.boot_id(told) == ""
    told.write_text("not an id\n")
    assert kernel_log.boot_id(told) == ""
    told.write_text("6c3d8ad5-8680-45c6-b943-46b7d923e17a\n")
    assert UUID(kernel_log.boot_id(told)).version == 4
