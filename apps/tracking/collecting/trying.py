"""Try what would be read of a sample of a log, before a run is started with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tracking.collecting.reading.lines import plain
from apps.tracking.collecting.reading.log import LogReader, LogState
from apps.tracking.collecting.reading.pattern_process import TookTooLong, find
from apps.tracking.collecting.settings import clean_patterns
from apps.tracking.points import Point

MOST_LINES = 200
LONGEST_SAMPLE = 20_000
_TIME_S = 1.0


@dataclass(frozen=True, slots=True)
class Tried:
    """A line of the sample and what was read of it."""

    line: str
    points: tuple[Point, ...]


def tried(patterns: Sequence[str], sample: str) -> list[Tried]:
    """By the patterns, or by the house's rules where there are none. Raises `Invalid` with the field."""
    kept = clean_patterns(patterns)
    if len(sample) > LONGEST_SAMPLE:
        raise Invalid.field(
            "metric_sample", _("At most %(most)s characters of a log can be tried.") % {"most": LONGEST_SAMPLE}
        )
    lines = [line for line in sample.replace("\r", "\n").split("\n") if line.strip()][:MOST_LINES]
    if not kept:
        reader = LogReader(LogState())
        return [Tried(line, tuple(_read(reader, line))) for line in lines]
    try:
        found = find(kept, [plain(line.encode()) for line in lines], time_s=_TIME_S)
    except TookTooLong as error:
        raise Invalid.field(
            "metric_patterns",
            _("These patterns take too long with this sample: a repetition within a repetition is mostly why."),
        ) from error
    return [
        Tried(line, tuple(Point(name, value, step, 0.0) for name, value, step in values))
        for line, values in zip(lines, found, strict=True)
    ]


def _read(reader: LogReader, line: str) -> list[Point]:
    return reader.feed(line.encode("utf-8", "replace"), 0, lambda _offset: 0.0, ended=True)[0]
