"""A log, read as it grows: bytes in, points out, in any process that has the state."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.tracking.collecting.reading.lines import LONGEST, plain, read_line
from apps.tracking.collecting.reading.own_patterns import Found
from apps.tracking.collecting.reading.progress import RunProgress
from apps.tracking.collecting.reading.said import Said
from apps.tracking.collecting.reading.tables import header_in, is_rule, row_under
from apps.tracking.points import Point

_END = re.compile(rb"[\r\n]")
LONGEST_UNENDED = 64 * 1024
"""Bytes. So much without the end of a line is passed over, and the rest of that line with it."""


@dataclass(slots=True)
class LogState:
    """What lines before say of those to come. `passing`: within a line that is too long to be read;
    `fractional`: its epochs are such as 0.25, which are no steps; `bar`: count and total of the run's."""

    epoch: float | None = None
    first_epoch: float | None = None
    step: int | None = None
    header: list[str] | None = None
    drawn: str = ""
    passing: bool = False
    fractional: bool = False
    bar: tuple[int, int] | None = None
    progress: RunProgress = field(default_factory=RunProgress)

    def as_json(self) -> dict[str, Any]:
        return {
            "epoch": self.epoch,
            "first_epoch": self.first_epoch,
            "step": self.step,
            "header": self.header,
            "drawn": self.drawn,
            "passing": self.passing,
            "fractional": self.fractional,
            "bar": self.bar,
            "progress": self.progress.as_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LogState":
        if not data:
            return cls()
        bar = data["bar"]
        progress = RunProgress.from_json(data["progress"])
        return cls(**{**data, "bar": None if bar is None else (bar[0], bar[1]), "progress": progress})


@dataclass(frozen=True, slots=True)
class Line:
    """Bytes from `offset` on, their end left out."""

    offset: int
    data: bytes


class LogReader:
    """`feed` takes the bytes at the position that it said to go on from, and reads whole lines of them.

    `at` tells when the byte at an offset was stored, in Unix seconds. `own`: patterns of a person, in place of the
    rules of the house.
    """

    def __init__(self, state: LogState, *, own: Callable[[list[str]], list[Found]] | None = None):
        self.state = state
        self._own = own

    def feed(self, data: bytes, offset: int, at: Callable[[int], float], *, ended: bool) -> tuple[list[Point], int]:
        """Points, and where to go on. `ended`: nothing follows, so a line without an end is one."""
        lines, used = self._lines(data, offset, ended=ended)
        if self._own is not None:
            return _of_own(self._own([plain(line.data) for line in lines]), lines, at), offset + used
        points = [point for line in lines for point in self._of_line(plain(line.data), at(line.offset))]
        return points, offset + used

    def _lines(self, data: bytes, offset: int, *, ended: bool) -> tuple[list[Line], int]:
        found, start = list[Line](), 0
        for end in _line_ends(data):
            if not self.state.passing and 0 < end - start <= LONGEST:
                found.append(Line(offset + start, data[start:end]))
            self.state.passing = False
            start = end + 1
        if start < len(data) and (ended or len(data) - start > LONGEST_UNENDED):
            if not self.state.passing and len(data) - start <= LONGEST:
                found.append(Line(offset + start, data[start:]))
            self.state.passing = not ended
            start = len(data)
        return found, start

    def _of_line(self, text: str, at: float) -> list[Point]:
        said = self._said(text)
        if said is None:
            return []
        state = self.state
        if said.is_bar and said.counts and not said.is_mean and said.total is not None and said.epoch is None:
            said = self._of_run(said)
        if said.epoch is not None:
            state.epoch = said.epoch
            if state.first_epoch is None:
                state.first_epoch = 0.0 if said.epoch < 1 else 1.0
        step = self._step(said)
        state.progress.take(said, first_epoch=state.first_epoch or 0.0, at=at)
        if not said.values or self._is_drawn_again(said, step):
            return []
        return [Point(name, value, step, at) for name, value in said.values]

    def _of_run(self, said: Said) -> Said:
        """A bar without a title, drawn while a larger one is not full, is of a part: an evaluation."""
        count, total = said.count or 0, said.total or 0
        if self.state.bar is not None and total < self.state.bar[1] and self.state.bar[0] < self.state.bar[1]:
            return replace(said, counts=False, values=())
        self.state.bar = (count, total)
        return said

    def _said(self, text: str) -> Said | None:
        state = self.state
        if state.header is not None:
            if (row := row_under(state.header, text)) is not None:
                return row
            if text.strip() and not is_rule(text):
                state.header = header_in(text)
        elif (header := header_in(text)) is not None:
            state.header = header
        return None if state.header is not None and header_in(text) else read_line(text)

    def _step(self, said: Said) -> int | None:
        """As the package says; the place of a run that it gives is that of lines after it that give none."""
        state = self.state
        if said.epoch is not None and said.epoch != int(said.epoch):
            state.fractional = True
        if said.step is not None:
            state.step = said.step
        elif said.count is not None and said.counts and not said.is_mean:
            return self._count(said)
        elif said.is_mean or (said.epoch is not None and not (said.is_object and state.step is not None)):
            return None if state.epoch is None or state.fractional else int(state.epoch)
        elif state.step is None and state.epoch is not None and not state.fractional:
            return int(state.epoch)
        return state.step

    def _count(self, said: Said) -> int | None:
        """A count goes on from one epoch to the next; one without a total cannot."""
        if said.total is None:
            return None
        epoch = said.epoch if said.epoch is not None or said.is_bar else self.state.epoch
        begun = 0 if epoch is None else int(max(0.0, epoch - (self.state.first_epoch or 0.0)))
        self.state.step = begun * said.total + (said.count or 0)
        return self.state.step

    def _is_drawn_again(self, said: Said, step: int | None) -> bool:
        """A bar is drawn many times with the same values."""
        if not said.is_bar:
            return False
        drawn = f"{step}:{said.values}"
        is_again, self.state.drawn = drawn == self.state.drawn, drawn
        return is_again


def _line_ends(data: bytes) -> Iterator[int]:
    """Where lines end: at feeds, and where a bar begins anew."""
    return (found.start() for found in _END.finditer(data))


def _of_own(found: list[Found], lines: list[Line], at: Callable[[int], float]) -> list[Point]:
    return [
        Point(name, value, step, at(line.offset))
        for line, values in zip(lines, found, strict=True)
        for name, value, step in values
    ]
