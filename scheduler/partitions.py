"""MIG: where a partition can start on each card, and which start costs the least.

Per geometry a table over all occupancy masks: F(mask) = sum of p * (free slices - slices that profile p could still
cover). A placement takes the card and start with the least change of F, then the fewest free slices.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from scheduler.cells import Bools, Cells, Ints
from scheduler.mig import SLICES, profile_named, profiles_of, span
from scheduler.types import GpuRequest, MigProfile, Mix, Mode

MASKS = 1 << SLICES
NOWHERE = -1
COST_SCALE = 1000
Geometry = tuple[MigProfile, ...]
NO_PLACE = (NOWHERE,) * MASKS, (0,) * MASKS


def slices_of(geometry: Geometry) -> int:
    """Memory slices of the card."""
    return max((start + p.size for p in geometry for start in p.starts), default=0)


def coverable(mask: int, profile: MigProfile) -> int:
    """Most slices that copies of the profile could cover in the free part. Spans of two starts never overlap partly."""
    covered = 0
    for start in profile.starts:
        piece = span(start, profile.size)
        if not mask & piece:
            mask |= piece
            covered += profile.size
    return covered


@lru_cache(maxsize=64)
def fragmentation(geometry: Geometry, weights: tuple[float, ...]) -> tuple[float, ...]:
    """F(mask) for all 256 masks under the weights of the profiles (in the geometry's order, adding up to 1)."""
    total = slices_of(geometry)
    full = (1 << total) - 1
    return tuple(_fragments(mask & full, geometry, weights, total) for mask in range(MASKS))


def _fragments(mask: int, geometry: Geometry, weights: tuple[float, ...], total: int) -> float:
    free = total - mask.bit_count()
    return sum(w * (free - coverable(mask, p)) for p, w in zip(geometry, weights, strict=True) if w)


def uniform_weights(geometry: Geometry) -> tuple[float, ...]:
    return tuple(1.0 / len(geometry) for _ in geometry)


@lru_cache(maxsize=512)
def best_starts(geometry: Geometry, name: str, weights: tuple[float, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(start, cost) for all 256 masks; start is NOWHERE where the profile does not fit. Lower cost is better."""
    profile = next((p for p in geometry if p.name == name), None)
    if profile is None:
        return NO_PLACE
    table, total = fragmentation(geometry, weights), slices_of(geometry)
    found = [_best_start(mask, profile, table, total) for mask in range(MASKS)]
    return tuple(start for start, _ in found), tuple(cost for _, cost in found)


def _best_start(mask: int, profile: MigProfile, table: tuple[float, ...], total: int) -> tuple[int, int]:
    options = [
        (round((table[mask | span(start, profile.size)] - table[mask]) * COST_SCALE), start)
        for start in profile.starts
        if not mask & span(start, profile.size)
    ]
    if not options:
        return NOWHERE, 0
    change, start = min(options)
    free = total - mask.bit_count()
    return start, (change + total * COST_SCALE) * (total + 1) + free


def profile_weights(mix: Mix | None) -> dict[str, float]:
    """The share of each MIG profile in the mix."""
    weights: dict[str, float] = {}
    for entry in mix.entries if mix is not None else ():
        if entry.gpu is not None and entry.gpu.mode is Mode.MIG and entry.gpu.profile:
            weights[entry.gpu.profile] = weights.get(entry.gpu.profile, 0.0) + entry.share
    return weights


def weights_on(geometry: Geometry, asked: Mapping[str, float]) -> tuple[float, ...]:
    """The share of each profile in the requested slices, adding up to 1; uniform if none is requested."""
    slices = [asked.get(p.name, 0.0) * p.size for p in geometry]
    return tuple(part / sum(slices) for part in slices) if any(slices) else uniform_weights(geometry)


class PartitionChoice:
    """The tables of one MIG request against these nodes, one per geometry. `asked`: weight by profile."""

    def __init__(self, cells: Cells, gpu: GpuRequest, asked: Mapping[str, float]) -> None:
        self.cells, self.name, self._asked = cells, gpu.profile or "", asked
        known: dict[Geometry, int] = {(): 0}
        geometry = cells.numbers(lambda card: known.setdefault(profiles_of(card), len(known)))
        self._at: Ints = geometry * MASKS  # [S, G]: offset of the card's geometry in the tables
        tables = [best_starts(g, self.name, weights_on(g, asked)) if g else NO_PLACE for g in known]
        self._starts, self._costs = (np.array(table, np.int64).ravel() for table in zip(*tables, strict=True))
        self._limited = any(self._is_limited(g) for g in known)

    def _is_limited(self, geometry: Geometry) -> bool:
        """Whether the maximum is below what the geometry allows (media engines), which the mask does not show."""
        profile = next((p for p in geometry if p.name == self.name), None)
        return profile is not None and profile.maximum * profile.size < coverable(0, profile)

    def possible(self, rows: Ints) -> Bools:
        """[k, G]: cards where the partition has a legal place now."""
        ok = self._starts.take(self._table_index(rows)) != NOWHERE
        if self._limited:
            for index, row in enumerate(rows.tolist()):
                ok[index] &= [self._under_maximum(row, column) for column in range(self.cells.width)]
        return np.asarray(ok)

    def _under_maximum(self, row: int, column: int) -> bool:
        held = self.cells.profiles_on(row, column)
        if self.name not in held:
            return True
        profile = profile_named(self.cells.cards[row][column], self.name)
        return profile is not None and list(held).count(self.name) < profile.maximum

    def cost(self, rows: Ints) -> Ints:
        """[k, G]: cost of the best start on each card; meaningful only where `possible`."""
        return np.asarray(self._costs.take(self._table_index(rows)))

    def start(self, row: int, column: int) -> int:
        return int(self._starts[self._at[self.cells.shape[row], column] + self.cells.mask[row, column]])

    def _table_index(self, rows: Ints) -> Ints:
        return np.asarray(self._at[self.cells.shape[rows]] + self.cells.mask[rows])
