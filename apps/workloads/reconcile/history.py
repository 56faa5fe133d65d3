"""How long runs take, for the scheduler's estimates: learned from those that ended, and from what their owners say of
those to come. Each world learns from its own."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

import scheduler
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from apps.workloads.queueing.tasks_of import task_of
from apps.workloads.simulation_scope import of_world
from scheduler.estimate import History, Prediction

# The newest ended runs that are learned from; older ones say little about today's.
LEARN_FROM = 2000
# A long history hardly changes with one more run, and reading it again takes a while.
LONG, LASTS = 200, timedelta(seconds=30)

Estimate = Prediction | None


@dataclass(slots=True)
class Lesson:
    """What was learned, up to which run, and when it was read. `known` remembers what was looked up in it."""

    history: History
    newest: UUID | None
    runs: int
    read_at: datetime
    known: dict[Hashable, Estimate] = field(default_factory=dict)

    def estimate(self, task: scheduler.Task) -> Estimate:
        """Of the whole run, for one that has not begun; None with neither history nor a statement."""
        size = task.gang.size if task.gang else 1, task.gpu
        key = task.organisation, task.user, size, task.stated_s, task.limit_s
        if key not in self.known:
            self.known[key] = self.history.predict(task)
        return self.known[key]


_lessons: dict[bool, Lesson] = {}


def learned(now: datetime, *, simulated: bool) -> Lesson:
    """Durations of the runs that ended last; read again when another one has ended, long ones every half minute."""
    ended = Workload.objects.filter(
        of_world(simulated),
        # By themselves, or at a limit that they would have reached anyway: not when a person happened to stop them.
        Q(status__in=[Status.SUCCEEDED, Status.FAILED]) | Q(status=Status.STOPPED, reason=Reason.LONGEST),
        started_at__isnull=False,
        ended_at__isnull=False,
    ).order_by("-ended_at")
    newest = ended.values_list("pk", flat=True).first()
    lesson = _lessons.get(simulated)
    if lesson is None or (newest != lesson.newest and not _still_good(lesson, now)):
        lesson = _lessons[simulated] = _read(list(ended[:LEARN_FROM]), newest, now)
    return lesson


def _still_good(lesson: Lesson, now: datetime) -> bool:
    young = lesson.runs >= LONG and timedelta(0) <= now - lesson.read_at < LASTS
    return young and lesson.newest is not None and Workload.objects.filter(pk=lesson.newest).exists()


def _read(ended: list[Workload], newest: UUID | None, now: datetime) -> Lesson:
    history = History()
    for workload in reversed(ended):
        if workload.started_at is not None and workload.ended_at is not None:
            history.record(task_of(workload), (workload.ended_at - workload.started_at).total_seconds())
    return Lesson(history, newest, len(ended), now)


def estimated(task: scheduler.Task, lesson: Lesson) -> scheduler.Task:
    """The waiting task with its p50 and p90 duration; the very same object where they have not changed."""
    return _with(task, lesson.estimate(task))


def estimated_running(task: scheduler.Task, lesson: Lesson, elapsed_s: float) -> scheduler.Task:
    """The same of one that has run for `elapsed_s` already."""
    return _with(task, lesson.history.predict(task, elapsed_s))


def _with(task: scheduler.Task, found: Estimate) -> scheduler.Task:
    p50, p90, unproven = (found.p50_s, found.p90_s, found.unproven) if found else (None, None, False)
    if (task.estimate_p50_s, task.estimate_p90_s, task.unproven) == (p50, p90, unproven):
        return task
    return replace(task, estimate_p50_s=p50, estimate_p90_s=p90, unproven=unproven)
