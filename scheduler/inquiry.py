"""What would become of tasks that nobody has submitted, each were it submitted alone: one pass answers for all of them.

A pass that holds one of them decides everybody before it as any other pass does. So they share that part: each is
decided at its own turn, its answer is taken down, and its turn is undone before the next one comes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from itertools import groupby
from typing import Any

from scheduler.catalogue import Entry
from scheduler.decisions import Wait
from scheduler.passes import Pass
from scheduler.types import Task

Answers = dict[str, Wait | None]
# What a pass remembers of its turns.
DECIDED = (
    *("pending", "places", "preempts", "committed"),
    *("_full_classes", "_open_classes", "_excluded", "_no_victims", "_evictions"),
)


def alike(tasks: Iterable[Task]) -> list[list[Task]]:
    """Groups whose tasks come at the same turn: what orders the queue, apart from the request, is the same for all."""
    return [list(group) for _place, group in groupby(sorted(tasks, key=_place_in_queue), key=_place_in_queue)]


def _place_in_queue(task: Task) -> tuple[Any, ...]:
    expected = -1.0 if task.estimate_p50_s is None else task.estimate_p50_s
    return task.organisation, task.department, task.user, task.priority, task.requeued, task.submitted_at, expected


class Inquiry(Pass):
    """A pass with tasks that are only asked about. It ends with the turn of the last of them."""

    def answers(self, holds: Mapping[str, Sequence[str]], asked: Collection[str]) -> Answers:
        """Of each asked task why it would wait, as of its turn, or None where it would start now."""
        turns, found = self._open(self.bookings.emptied_nodes(holds)), Answers()
        while len(found) < len(asked) and (entry := turns.next()) is not None:
            if entry.task.id in asked:
                found[entry.task.id] = self._answer(entry)
                turns.done(moved=False)
            else:
                self._take_turn(entry, turns)
        return found

    def _answer(self, entry: Entry) -> Wait | None:
        waiting = len(self.pending)
        with self._undone():
            self._decide(entry)
            return self._explainer().last_wait(self.pending) if len(self.pending) > waiting else None

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Leave the pass, and all that it stands on, as they were before the block."""
        before = {name: copy(getattr(self, name)) for name in DECIDED}
        with ExitStack() as stack:
            stack.enter_context(self.bookings.undone())
            stack.enter_context(self.preemptor.undone())
            for books in (self.roster, self.accounts):
                books.begin()
                stack.callback(books.rollback)
            yield
            self.allocator.undo(self.committed[len(before["committed"]) :])
        vars(self).update(before)
