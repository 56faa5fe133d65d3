"""All possible victims of a pass as arrays, so that a search need not look at every node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from scheduler.cells import Bools, Ints
from scheduler.shares import Shares
from scheduler.types import Task
from scheduler.victims import Cost, Victim, cost_of

CostFloor = tuple[int, float, int]  # priority, GPU-seconds lost, row
Group = tuple[Mapping[str, int], Ints]
NEVER = 1 << 30
ROUNDING = 0.001  # costs are rounded to this


class VictimTable:
    """Victims as arrays [V], and their places as pairs of a victim and a row [P]. Never changed once it is made."""

    def __init__(self, victims: Iterable[Victim]) -> None:
        self.victims: Sequence[Victim] = sorted(victims, key=lambda victim: victim.task.id)
        self.index = {victim.task.id: index for index, victim in enumerate(self.victims)}
        self.codes: dict[str, int] = {}
        names = [victim.task.organisation for victim in self.victims]
        self.owner = np.array([self.codes.setdefault(name, len(self.codes)) for name in names], np.int64)
        self.priority = np.array([victim.task.priority for victim in self.victims], np.int64)
        self.yields = np.array([victim.task.preemptible for victim in self.victims], np.bool_)
        self.lost = np.array([victim.lost_gpu_s for victim in self.victims], np.float64)
        self.groups = self._by_bundle()
        self._lay_out_pairs()

    def _lay_out_pairs(self) -> None:
        """Build the pairs, with the cards that each victim holds on each row."""
        self.on_row: defaultdict[int, list[int]] = defaultdict(list)
        pairs = [
            (index, row, cards) for index, victim in enumerate(self.victims) for row, cards in _cards_by_row(victim)
        ]
        for index, row, _ in pairs:
            self.on_row[row].append(index)
        flat = np.array(pairs, np.int64).reshape(-1, 3)
        self.at, self.row, cards = flat[:, 0], flat[:, 1], flat[:, 2]
        self.per_card = np.where(cards > 0, self.lost[self.at] / np.maximum(cards, 1), np.inf)

    def _by_bundle(self) -> dict[str, list[Group]]:
        """By organisation, its victims grouped by bundle."""
        alike: defaultdict[tuple[str, tuple[tuple[str, int], ...]], list[int]] = defaultdict(list)
        for index, victim in enumerate(self.victims):
            alike[victim.task.organisation, tuple(sorted(victim.bundle.items()))].append(index)
        groups: defaultdict[str, list[Group]] = defaultdict(list)
        for (organisation, bundle), indices in alike.items():
            groups[organisation].append((dict(bundle), np.array(indices, np.int64)))
        return groups


class Candidates:
    """Who of a table may still be asked in this pass, and by whom.

    Whether an organisation can spare a victim is computed once per distinct bundle, and again when its use changes.
    Those without a guarantee can spare every victim.
    """

    def __init__(self, shares: Shares, rows: int, table: VictimTable) -> None:
        self.shares, self.rows, self.table, self.victims = shares, rows, table, table.victims
        self._available = np.ones(len(self.victims), np.bool_)
        self._spared = np.ones(len(self.victims), np.bool_)
        self._groups = {name: groups for name, groups in table.groups.items() if shares.is_guaranteed(name)}
        self._changes_seen: dict[str, int] = {}

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Let those who are removed in the block be asked again."""
        available = self._available.copy()
        yield
        self._available = available

    def remove(self, victims: Iterable[Victim]) -> None:
        """Drop victims that have been asked to leave."""
        for victim in victims:
            self._available[self.table.index[victim.task.id]] = False

    def replaceable_by(self, task: Task, reclaims: bool) -> Bools:
        """[V]: victims that the task may replace, each taken alone. `reclaims`: also those that others can spare."""
        own = self.table.owner == self.table.codes.get(task.organisation, -1)
        may = own & self.table.yields & (self.table.priority < task.priority)
        if reclaims:
            self._refresh_spared()
            may |= ~own & self._spared
        return np.asarray(may & self._available)

    def _refresh_spared(self) -> None:
        for organisation, groups in self._groups.items():
            if self._changes_seen.get(organisation) != self.shares.changes[organisation]:
                self._changes_seen[organisation] = self.shares.changes[organisation]
                for bundle, indices in groups:
                    self._spared[indices] = self.shares.above_guarantee(organisation, bundle)

    def on_row(self, row: int, may: Bools) -> list[Victim]:
        """Victims in `may` on the row, by id."""
        return [self.victims[index] for index in self.table.on_row.get(row, ()) if may[index]]

    def cost_floors(self, may: Bools, short: Ints) -> list[CostFloor]:
        """Lower bounds of the cost by row with victims in `may` [V], lowest first. `short` [N]: cards to free at least.

        No set of victims costs less than its cheapest member, nor less per card than the member cheapest per card.
        """
        at = may[self.table.at]
        rows, who = self.table.row[at], self.table.at[at]
        priority = np.full(self.rows, NEVER, np.int64)
        np.minimum.at(priority, rows, self.table.priority[who])
        least, per_card = np.full(self.rows, np.inf), np.full(self.rows, np.inf)
        lowest = self.table.priority[who] == priority[rows]
        np.minimum.at(least, rows[lowest], self.table.lost[who[lowest]])
        np.minimum.at(per_card, rows, self.table.per_card[at])
        lost = np.maximum(least, np.multiply(per_card, short, out=np.zeros(self.rows), where=short > 0)) - ROUNDING
        found = np.flatnonzero((priority < NEVER) & np.isfinite(lost))
        found = found[np.lexsort((found, lost[found], priority[found]))]
        return list(zip(priority[found].tolist(), lost[found].tolist(), found.tolist(), strict=True))


def _cards_by_row(victim: Victim) -> list[tuple[int, int]]:
    """(row, number of cards that the victim holds there)."""
    if len(victim.members) == 1:
        (member,) = victim.members
        return [(member.claim.row, len(set(member.columns)))]
    cards: defaultdict[int, set[int]] = defaultdict(set)
    for member in victim.members:
        cards[member.claim.row].update(member.columns)
    return [(row, len(columns)) for row, columns in cards.items()]


def cost_bounds(
    floors: Sequence[CostFloor], open_rows: set[int], gone: Sequence[Victim], inside: set[int]
) -> Iterator[tuple[Cost, int]]:
    """Lower bounds of the total cost with one more member, by row, lowest first. `gone`: victims already chosen."""
    so_far = cost_of(gone)
    ready = open_rows | {row for victim in gone for row in victim.rows if row in inside}
    yield from ((so_far, row) for row in sorted(ready))
    others = [(max(so_far[0], priority), so_far[1] + lost, row) for priority, lost, row in floors if row not in ready]
    yield from (((priority, lost, 0, 0), row) for priority, lost, row in sorted(others))
