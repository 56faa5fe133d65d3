"""Lines of a log from any place: put together they are the log, whatever it is made of."""

from datetime import UTC, datetime
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workloads.drivers.base import LogTime
from apps.workloads.logs import lines as by_line
from apps.workloads.logs.lines import (
    LAST_BYTE,
    LONGEST,
    Lines,
    line_start,
    lines_before,
    lines_from,
    size_of,
    tail_start,
)
from tests.searching import examples
from tests.workloads.reading import MemoryLog

LOGS = st.lists(st.sampled_from([b"\n", b"a", b"\xff\xfe", "中".encode(), b"\r", b"x" * 30]), max_size=60).map(b"".join)
LONG = ("é" * LONGEST).encode()  # twice as long as a line may be


def joined(found: Lines, log: bytes) -> bytes:
    """Of the lines, with a check that they lie side by side and say what stands there."""
    at = found.offset
    for line in found.lines:
        assert line.offset == at
        assert line.text == log[line.offset : line.end].removesuffix(b"\n").decode(errors="replace")
        at = line.end
    assert at == found.next_offset
    return log[found.offset : found.next_offset]


@given(LOGS, st.integers(1, 200), st.integers(5, 50))
@settings(max_examples=examples(200))
def test_onwards_from_the_beginning_is_the_whole_log(log: bytes, limit: int, largest: int) -> None:
    got, offset = b"", 0
    while True:
        with mock.patch.object(by_line, "LONGEST", 24):
            found = lines_from(MemoryLog(log, largest=largest), offset, max(limit, 24))
        got += joined(found, log)
        offset = found.next_offset
        if found.complete:
            break
        assert found.lines
    assert got == log


@given(LOGS, st.integers(1, 200), st.booleans())
@settings(max_examples=examples(200))
def test_backwards_from_the_end_is_the_whole_log(log: bytes, limit: int, ended: bool) -> None:
    got, before = b"", LAST_BYTE
    while before > 0:
        with mock.patch.object(by_line, "LONGEST", 24):
            found = lines_before(MemoryLog(log, ended=ended), before, max(limit, 24))
        got = joined(found, log) + got
        assert found.offset < before
        before = found.offset
        if not log:
            break
    assert got == log


@given(LOGS, st.data())
def test_a_line_begins_where_the_one_before_ended(log: bytes, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(log)))
    assert line_start(MemoryLog(log), offset) == log.rfind(b"\n", 0, offset) + 1


@given(LOGS, st.integers(0, 30))
def test_the_last_lines_are_those_of_the_text(log: bytes, count: int) -> None:
    whole = log.splitlines(keepends=True) if b"\r" not in log else [*log.removesuffix(b"\n").split(b"\n")]
    start = tail_start(MemoryLog(log), count)
    shown = log[start:]
    assert shown.removesuffix(b"\n").count(b"\n") + (1 if shown else 0) == min(count, len(whole) if log else 0)
    assert start == 0 or count == 0 or log[start - 1 : start] == b"\n"


@given(LOGS)
def test_an_older_agent_does_not_say_how_long_a_log_is(log: bytes) -> None:
    read = MemoryLog(log, says_size=False)
    assert size_of(read) == len(log)
    assert read.questions < 100


def test_a_line_that_still_grows_is_left_to_the_next_answer() -> None:
    found = lines_from(MemoryLog(b"one\ntwo", ended=False), 0, LONGEST)
    assert ([line.text for line in found.lines], found.next_offset, found.complete) == (["one"], 4, False)
    assert [line.text for line in lines_from(MemoryLog(b"one\ntwo"), 0, LONGEST).lines] == ["one", "two"]


@pytest.mark.parametrize("ended", [False, True])
def test_a_line_without_an_end_comes_in_parts_that_cut_no_character(ended: bool) -> None:
    log, got, offset = b"x" + LONG, "", 0
    while offset < len(log):
        found = lines_from(MemoryLog(log, ended=ended), offset, LONGEST)
        assert all(line.end - line.offset <= LONGEST for line in found.lines)
        if not found.lines:
            break
        got += "".join(line.text for line in found.lines)
        offset = found.next_offset
    assert offset == len(log) or (not ended and len(log) - offset < LONGEST)
    assert got == log[:offset].decode()
    assert "\ufffd" not in lines_before(MemoryLog(log, ended=ended), LAST_BYTE, LONGEST).lines[0].text


def test_each_line_has_the_time_of_its_first_byte() -> None:
    times = (LogTime(0, 1_000), LogTime(6, 2_500))
    found = lines_from(MemoryLog(b"one\ntwo\nsix\n", times=times), 0, LONGEST)
    assert [line.at for line in found.lines] == [datetime.fromtimestamp(seconds, UTC) for seconds in (1, 1, 2.5)]
    assert [line.at for line in lines_from(MemoryLog(b"old\n"), 0, LONGEST).lines] == [None]


def test_a_place_behind_the_end_is_the_end() -> None:
    """A log that was cut: whoever remembers a longer one gets what there is."""
    found = lines_from(MemoryLog(b"one\ntwo\n"), 10_000, LONGEST)
    assert (found.offset, found.next_offset, found.complete) == (8, 8, True)
    assert [line.text for line in lines_before(MemoryLog(b"one\ntwo\n"), 10_000, LONGEST).lines] == ["one", "two"]
