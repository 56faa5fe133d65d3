"""The queue between passes: who waits, sorted once into organisation, level and spot in the tree below."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduler.catalogue import Catalogue, Entry
from scheduler.horizon import UNKNOWN_P50_S
from scheduler.paths import Path, Paths
from scheduler.types import Task

Level = tuple[int, bool]


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A task in its line. Order: arrival, plus patience times the expected run; ties go to the lower id.

    With patience, a task lets later ones pass only if they are shorter by more than they came later, over `patience`.
    """

    age: float
    task_id: str
    entry: Entry = field(compare=False)


@dataclass(slots=True)
class Camp:
    """What waits of one organisation: its lines by level, then by path; all arrivals in order."""

    levels: dict[Level, dict[Path, list[Spot]]] = field(default_factory=dict)
    arrivals: list[tuple[float, str]] = field(default_factory=list)


class Backlog:
    """Waiting tasks, brought up to date from what is handed in: a pass pays for those that came and went."""

    def __init__(self, catalogue: Catalogue, paths: Paths) -> None:
        self._catalogue, self._paths = catalogue, paths
        self._patience = 0.0
        self.clear()

    def clear(self) -> None:
        """Forget who waits; the next `follow` sorts all anew."""
        self._spots: dict[str, Spot] = {}
        self.camps: dict[str, Camp] = {}
        self.classes: Counter[int] = Counter()  # waiting tasks by Entry.key
        self._sample: dict[int, Entry] = {}
        self.preemptible = 0

    def __len__(self) -> int:
        return len(self._spots)

    def entry(self, task_id: str) -> Entry | None:
        spot = self._spots.get(task_id)
        return spot.entry if spot is not None else None

    def samples(self) -> Iterable[Entry]:
        """One entry of each class that waits."""
        return (self._sample[key] for key in self.classes)

    def follow(self, waiting: Sequence[Task], patience: float) -> None:
        """Make it hold exactly these tasks. A task that is the same object as before is not looked at."""
        if patience != self._patience:
            self.clear()
            self._patience = patience
        spots = self._spots
        for task in waiting:
            spot = spots.get(task.id)
            if spot is None:
                self._add(task)
            elif spot.entry.task is not task:
                self._remove(task.id)
                self._add(task)
        if len(spots) != len(waiting):
            for task_id in spots.keys() - {task.id for task in waiting}:
                self._remove(task_id)

    def _add(self, task: Task) -> None:
        entry = self._catalogue.of(task)
        expected = task.estimate_p50_s if task.estimate_p50_s is not None else UNKNOWN_P50_S
        spot = self._spots[task.id] = Spot(task.submitted_at + self._patience * expected, task.id, entry)
        camp = self.camps.setdefault(task.organisation, Camp())
        insort(camp.levels.setdefault(_level(task), {}).setdefault(self._paths.of(task), []), spot)
        insort(camp.arrivals, (task.submitted_at, task.id))
        self.classes[entry.key] += 1
        self._sample[entry.key] = entry
        self.preemptible += task.preemptible

    def _remove(self, task_id: str) -> None:
        spot = self._spots.pop(task_id)
        task, camp = spot.entry.task, self.camps[spot.entry.task.organisation]
        line = camp.levels[_level(task)][self._paths.of(task)]
        del line[bisect_left(line, spot)]
        del camp.arrivals[bisect_left(camp.arrivals, (task.submitted_at, task.id))]
        if not line:
            self._strike(camp, task)
        self.classes[spot.entry.key] -= 1
        if not self.classes[spot.entry.key]:
            del self.classes[spot.entry.key]
        self.preemptible -= task.preemptible

    def _strike(self, camp: Camp, task: Task) -> None:
        """Drop what has become empty."""
        paths = camp.levels[_level(task)]
        del paths[self._paths.of(task)]
        if not paths:
            del camp.levels[_level(task)]
        if not camp.arrivals:
            del self.camps[task.organisation]


def _level(task: Task) -> Level:
    """Lower goes first: priority, and what was pushed aside ahead of the rest of its priority."""
    return -task.priority, not task.requeued
