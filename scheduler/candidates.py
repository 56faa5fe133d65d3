"""All who might be asked to give way in a pass, side by side, so that a search need not look at every node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from scheduler.cells import Bools, Ints
from scheduler.shares import Shares
from scheduler.types import Task
from scheduler.victims import Victim

Floor = tuple[int, float, int]  # priority, GPU-seconds lost, row
Group = tuple[Mapping[str, int], Ints]
NEVER = 1 << 30
ROUNDING = 0.001  # costs are rounded to this


class Candidates:
    """Victims as arrays [V], and where they are as pairs of a victim and a row [P].

    Which of them an organisation can spare is asked for once per kind of bundle, and again when its use has changed.
    """

    def __init__(self, shares: Shares, rows: int, victims: Iterable[Victim]) -> None:
        self.shares, self.rows = shares, rows
        self.victims: Sequence[Victim] = sorted(victims, key=lambda victim: victim.task.id)
        self._index = {victim.task.id: index for index, victim in enumerate(self.victims)}
        self._codes: dict[str, int] = {}
        names = [victim.task.organisation for victim in self.victims]
        self._owner = np.array([self._codes.setdefault(name, len(self._codes)) for name in names], np.int64)
        self._priority = np.array([victim.task.priority for victim in self.victims], np.int64)
        self._yields = np.array([victim.task.preemptible for victim in self.victims], np.bool_)
        self._lost = np.array([victim.lost_gpu_s for victim in self.victims], np.float64)
        self._here = np.ones(len(self.victims), np.bool_)
        self._spared = np.ones(len(self.victims), np.bool_)
        self._groups = self._by_bundle()
        self._as_of: dict[str, int] = {}
        self._spread()

    def _spread(self) -> None:
        """Lay out the pairs, with the cards that each victim holds on each row."""
        self._on_row: defaultdict[int, list[int]] = defaultdict(list)
        pairs = [(index, row, cards) for index, victim in enumerate(self.victims) for row, cards in _held(victim)]
        for index, row, _ in pairs:
            self._on_row[row].append(index)
        flat = np.array(pairs, np.int64).reshape(-1, 3)
        self._at, self._row, cards = flat[:, 0], flat[:, 1], flat[:, 2]
        self._per_card = np.where(cards > 0, self._lost[self._at] / np.maximum(cards, 1), np.inf)

    def _by_bundle(self) -> dict[str, list[Group]]:
        """Victims of organisations with a guarantee, equal bundles together. All others can spare everything."""
        alike: defaultdict[tuple[str, tuple[tuple[str, int], ...]], list[int]] = defaultdict(list)
        for index, victim in enumerate(self.victims):
            if self.shares.promised(victim.task.organisation):
                alike[victim.task.organisation, tuple(sorted(victim.bundle.items()))].append(index)
        groups: defaultdict[str, list[Group]] = defaultdict(list)
        for (organisation, bundle), indices in alike.items():
            groups[organisation].append((dict(bundle), np.array(indices, np.int64)))
        return groups

    def strike(self, victims: Iterable[Victim]) -> None:
        """They have been asked to go."""
        for victim in victims:
            self._here[self._index[victim.task.id]] = False

    def lawful(self, task: Task, reclaims: bool) -> Bools:
        """[V]: whom the task may take the place of, each taken alone. `reclaims`: others' too, if they can spare it."""
        own = self._owner == self._codes.get(task.organisation, -1)
        may = own & self._yields & (self._priority < task.priority)
        if reclaims:
            self._look_what_is_spared()
            may |= ~own & self._spared
        return np.asarray(may & self._here)

    def _look_what_is_spared(self) -> None:
        for organisation, groups in self._groups.items():
            if self._as_of.get(organisation) != self.shares.changes[organisation]:
                self._as_of[organisation] = self.shares.changes[organisation]
                for bundle, indices in groups:
                    self._spared[indices] = self.shares.above_guarantee(organisation, bundle)

    def on_row(self, row: int, may: Bools) -> list[Victim]:
        """Those of them on the row, by id."""
        return [self.victims[index] for index in self._on_row.get(row, ()) if may[index]]

    def floors(self, may: Bools, short: Ints) -> list[Floor]:
        """Rows with such victims, the cheapest first. `short` [N]: how many cards must be freed there at least.

        No set of victims costs less than its cheapest, nor less per card than the one that costs least per card.
        """
        at = may[self._at]
        rows, who = self._row[at], self._at[at]
        priority = np.full(self.rows, NEVER, np.int64)
        np.minimum.at(priority, rows, self._priority[who])
        least, per_card = np.full(self.rows, np.inf), np.full(self.rows, np.inf)
        lowest = self._priority[who] == priority[rows]
        np.minimum.at(least, rows[lowest], self._lost[who[lowest]])
        np.minimum.at(per_card, rows, self._per_card[at])
        lost = np.maximum(least, np.multiply(per_card, short, out=np.zeros(self.rows), where=short > 0)) - ROUNDING
        found = np.flatnonzero((priority < NEVER) & np.isfinite(lost))
        found = found[np.lexsort((found, lost[found], priority[found]))]
        return list(zip(priority[found].tolist(), lost[found].tolist(), found.tolist(), strict=True))


def _held(victim: Victim) -> list[tuple[int, int]]:
    """(row, cards that it holds there)."""
    if len(victim.members) == 1:
        (member,) = victim.members
        return [(member.claim.row, len(set(member.columns)))]
    cards: defaultdict[int, set[int]] = defaultdict(set)
    for member in victim.members:
        cards[member.claim.row].update(member.columns)
    return [(row, len(columns)) for row, columns in cards.items()]
