"""The order of turns: organisations by guarantee and fair share; inside each, priority, departments, users and age.

Priority orders inside an organisation only. A task that does not start leaves its queue's standing unchanged, so the
next task of the same queue has its turn at once; one that starts moves its organisation, department and user back.
"""

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.backlog import Backlog, Level, QueuedTask
from scheduler.catalogue import Entry
from scheduler.paths import Path, Paths
from scheduler.shares import GuaranteeFit, Shares

IsSkipped = Callable[[QueuedTask], bool]
Lane = tuple[str, str]  # organisation, guaranteed resource: see Shares.lanes
Rank = tuple[int, float, float, str, Level, tuple[tuple[float, float, str], ...], Lane]


@dataclass(slots=True)
class TreeNode:
    """A department or user with waiting tasks. `heap` orders the children: (standing, first effective arrival, name).

    `tasks[at:]` are still to come.
    """

    path: Path
    tasks: Sequence[QueuedTask] = ()
    at: int = 0
    children: dict[str, "TreeNode"] = field(default_factory=dict)
    heap: list[tuple[float, float, str]] = field(default_factory=list)
    oldest: float = float("inf")

    def head(self) -> Entry | None:
        return self.tasks[self.at].entry if self.at < len(self.tasks) else None

    def skip(self, is_skipped: IsSkipped) -> None:
        while self.at < len(self.tasks) and is_skipped(self.tasks[self.at]):
            self.at += 1

    @property
    def empty(self) -> bool:
        return not self.heap and self.at >= len(self.tasks)


class LevelQueue:
    """Waiting tasks of one organisation at one level (priority, requeued first), fair between departments and users.

    `is_skipped`: whether a task does not belong to it; None if all tasks do.
    """

    def __init__(self, lines: Mapping[Path, Sequence[QueuedTask]], paths: Paths, is_skipped: IsSkipped | None) -> None:
        self._paths, self._is_skipped = paths, is_skipped
        self._root = TreeNode(())
        self._cached_path: list[TreeNode] | None = None
        for path, tasks in lines.items():
            self._insert(path, tasks)
        self.sort()

    def _insert(self, path: Path, tasks: Sequence[QueuedTask]) -> None:
        node = self._root
        for depth in range(1, len(path) + 1):
            node = node.children.setdefault(path[depth - 1], TreeNode(path[:depth]))
            node.oldest = min(node.oldest, tasks[0].effective_arrival)
        node.tasks = tasks
        if self._is_skipped is not None:
            node.skip(self._is_skipped)

    def sort(self) -> None:
        """Sort everything by present standings."""
        self._heapify(self._root)
        self._cached_path = None

    def _heapify(self, node: TreeNode) -> None:
        for child in node.children.values():
            self._heapify(child)
        node.heap = [self._key(child) for child in node.children.values() if not child.empty]
        heapq.heapify(node.heap)

    def _key(self, node: TreeNode) -> tuple[float, float, str]:
        return self._paths.standing(node.path, bool(node.tasks)), node.oldest, node.path[-1]

    def _path_to_head(self) -> list[TreeNode]:
        """The tree nodes from the root to the one whose turn it is, cached until a heap changes."""
        if self._cached_path is None:
            trail = self._cached_path = [self._root]
            while trail[-1].heap:
                trail.append(trail[-1].children[trail[-1].heap[0][2]])
        return self._cached_path

    def head(self) -> Entry | None:
        return self._path_to_head()[-1].head()

    def standings_to_head(self) -> tuple[tuple[float, float, str], ...]:
        """The standings on the path to the head."""
        return tuple(node.heap[0] for node in self._path_to_head()[:-1])

    def advance(self, moved: bool) -> None:
        """Drop the head. `moved`: it started or has room reserved, so standings on its path have changed."""
        trail = self._path_to_head()
        trail[-1].at += 1
        if self._is_skipped is not None:
            trail[-1].skip(self._is_skipped)
        if not moved and not trail[-1].empty:
            return
        self._cached_path = None
        for parent, child in zip(reversed(trail[:-1]), reversed(trail[1:]), strict=True):
            if child.empty:
                heapq.heappop(parent.heap)
            elif moved:
                heapq.heapreplace(parent.heap, self._key(child))


class Turns:
    """The whole queue. `next()` names the task whose turn it is; `done` must follow each time.

    Tasks that count against different guarantees of one organisation are in separate lanes, so that a task outside the
    guarantee of its model does not delay one inside the guarantee of another. Lanes of one organisation with equal fit
    to their guarantees go in the order of a single queue. `first`: tasks that come before all others, oldest first.
    """

    def __init__(self, backlog: Backlog, shares: Shares, paths: Paths, now: float, first: Collection[str] = ()) -> None:
        self._backlog, self._shares, self._paths, self._now = backlog, shares, paths, now
        self._first_ids = frozenset(first)
        ahead = [entry for task_id in self._first_ids if (entry := backlog.entry(task_id)) is not None]
        self._first = sorted(ahead, key=lambda entry: (entry.task.submitted_at, entry.task.id), reverse=True)
        shares.set_baseline(backlog.queues)
        self._lanes = {organisation: shares.lanes(organisation) for organisation in backlog.queues}
        self._lane_of: dict[tuple[str, int], str] = {}
        self._levels: dict[Lane, list[Level]] = {}
        self._level_queues: dict[Lane, LevelQueue] = {}
        every = ((organisation, lane) for organisation, lanes in self._lanes.items() for lane in lanes)
        self._heap = [self._rank(lane) for lane in every if self._open_next_level(lane)]
        heapq.heapify(self._heap)

    def _filter_for(self, lane: Lane) -> IsSkipped | None:
        organisation, name = lane
        if len(self._lanes[organisation]) == 1:
            return (lambda queued: queued.task_id in self._first_ids) if self._first_ids else None
        return lambda queued: queued.task_id in self._first_ids or self._lane(organisation, queued.entry) != name

    def _lane(self, organisation: str, entry: Entry) -> str:
        key = organisation, entry.key
        if key not in self._lane_of:
            self._lane_of[key] = self._shares.lane_of(organisation, entry.asked)
        return self._lane_of[key]

    def _open_next_level(self, lane: Lane) -> bool:
        """Open the lane's next level with waiting tasks; False if none is left."""
        organisation_queue = self._backlog.queues[lane[0]]
        left = self._levels.setdefault(lane, sorted(organisation_queue.levels, reverse=True))
        while left:
            queue = self._level_queues[lane] = LevelQueue(
                organisation_queue.levels[left[-1]], self._paths, self._filter_for(lane)
            )
            if queue.head() is not None:
                return True
            left.pop()
        return False

    def _rank(self, lane: Lane) -> Rank:
        organisation, queue = lane[0], self._level_queues[lane]
        entry = queue.head()
        claimed = self._shares.guarantee_fit(organisation, entry.asked) if entry is not None else GuaranteeFit.OUTSIDE
        oldest = self._backlog.queues[organisation].arrivals[0][0]
        way = queue.standings_to_head() if len(self._lanes[organisation]) > 1 else ()
        standing = self._shares.standing(organisation, self._now - oldest)
        return claimed, standing, oldest, organisation, self._levels[lane][-1], way, lane

    def next(self) -> Entry | None:
        if self._first:
            return self._first[-1]
        return self._level_queues[self._heap[0][-1]].head() if self._heap else None

    def done(self, moved: bool) -> None:
        """The task from `next` is decided. `moved`: it started or has room reserved, so standings have changed."""
        if self._first:
            self._first.pop()
            self._sort()
            return
        lane = self._heap[0][-1]
        queue = self._level_queues[lane]
        queue.advance(moved)
        if queue.head() is None and not self._next_level(lane):
            heapq.heappop(self._heap)
        elif moved or self._shares.has_guarantees:
            heapq.heapreplace(self._heap, self._rank(lane))
        if moved and len(self._lanes[lane[0]]) > 1:
            self._sort_lanes(lane)

    def _next_level(self, lane: Lane) -> bool:
        self._levels[lane].pop()
        return self._open_next_level(lane)

    def _sort_lanes(self, moved: Lane) -> None:
        """Sort an organisation's other lanes again after a task of one lane has moved."""
        for lane in {rank[-1] for rank in self._heap} - {moved}:
            if lane[0] == moved[0]:
                self._level_queues[lane].sort()
        self._sort()

    def _sort(self) -> None:
        self._heap = [self._rank(rank[-1]) for rank in self._heap]
        heapq.heapify(self._heap)
