"""Points as they are stored: chunks and batches of series, read in one statement.

Two statements could see a merge between them, and would miss or double what it moved; a statement has one snapshot.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from apps.tracking import codec
from apps.tracking.batches import by_slot
from apps.tracking.points import Points


@dataclass(frozen=True, slots=True)
class Range:
    """Of steps, of Unix microseconds, or of numbers in order of arrival, both ends included; None: open."""

    column: str  # of `BOUNDS`
    start: int | None = None
    end: int | None = None


BOUNDS = {
    "step": ("c.min_step", "c.max_step"),
    "moment": ("c.min_moment", "c.max_moment"),
    "number": ("c.first", "(c.first + c.count - 1)"),
}
ALL = Range("step")


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive points of one series. `is_outline`: extremes of many points instead of all of them.

    `first`: the number of the first of them; of batches, that of the first which is in no chunk.
    """

    series_id: int
    points: Points
    odd_count: int
    is_outline: bool
    first: int


_READ = """
    SELECT c.series_id, c.first, 0, c.odd_count, CASE WHEN {coarse} THEN c.outline ELSE c.points END, ''::bytea, NULL,
        {coarse}
    FROM tracking_pointchunk c WHERE c.series_id = ANY(%(ids)s) AND {within}
    UNION ALL
    SELECT NULL,
        COALESCE((SELECT max(e.first + e.count) FROM tracking_pointchunk e WHERE e.series_id = ANY(%(ids)s)), 0),
        b.id, 0, b.points, b.slots, b.series_ids, false
    FROM tracking_pointbatch b WHERE b.run_id = ANY(%(runs)s::uuid[]) AND b.series_ids && %(ids)s::bigint[]
    ORDER BY 3, 1, 2
"""


def read(
    runs: Iterable[object], series: Sequence[int], within: Range = ALL, *, coarsely: Iterable[int] = ()
) -> list[Piece]:
    """Of these series of these runs, in order of arrival; from chunks only those that touch the range.

    `coarsely`: series of which outlines do, where a chunk has one and lies in the range as a whole.
    """
    values: dict[str, Any] = {
        "ids": list(series),
        "runs": [str(each) for each in runs],
        "coarse": list(coarsely),
        "start": within.start,
        "end": within.end,
    }
    low, high = BOUNDS[within.column]
    begins, ends = "(%(start)s::bigint IS NULL OR {0} >= %(start)s)", "(%(end)s::bigint IS NULL OR {0} <= %(end)s)"
    coarse = (
        f"(c.series_id = ANY(%(coarse)s::bigint[]) AND length(c.outline) > 0 AND {begins.format(low)}"
        f" AND {ends.format(high)})"
    )
    statement = _READ.format(coarse=coarse, within=f"{begins.format(high)} AND {ends.format(low)}")
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    wanted = set(series)
    pieces: list[Piece] = []
    for series_id, first, _batch, odd, data, slots, ids, is_outline in rows:
        if ids is None:
            pieces.append(Piece(series_id, codec.unpack(data), odd, is_outline, first))
        else:
            pieces.extend(_of_batch(data, slots, ids, first, wanted))
    return pieces


def _of_batch(data: memoryview, slots: memoryview, ids: Sequence[int], first: int, wanted: set[int]) -> list[Piece]:
    parts = by_slot(codec.unpack_slots(slots), codec.unpack(data), len(ids))
    return [Piece(pk, part, 0, False, first) for pk, part in zip(ids, parts, strict=True) if pk in wanted]
