"""How long answers take, counted in buckets: exact to a bucket's width, and added up over keys and minutes."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

BOUNDS_MS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000,
             10_000, 20_000, 30_000, 60_000, 120_000, 300_000)  # fmt: skip
BUCKETS = len(BOUNDS_MS) + 1


def bucket_of(took_ms: float) -> int:
    """The first whose bound is not exceeded."""
    return bisect_left(BOUNDS_MS, took_ms)


def summed(rows: Iterable[Sequence[int]]) -> list[int]:
    """All together, of rows that may be shorter."""
    found = [0] * BUCKETS
    for row in rows:
        for index, count in enumerate(row[:BUCKETS]):
            found[index] += count
    return found


def percentile_ms(counts: Sequence[int], share: float) -> float | None:
    """Within which time this share of the answers began, interpolated inside its bucket; None without any."""
    total = sum(counts)
    if not total:
        return None
    rank, before = max(1, math.ceil(share * total)), 0
    for index, count in enumerate(counts):
        if before + count >= rank:
            low = BOUNDS_MS[index - 1] if index else 0
            high = BOUNDS_MS[index] if index < len(BOUNDS_MS) else low
            return low + (high - low) * (rank - before) / count
        before += count
    return float(BOUNDS_MS[-1])
