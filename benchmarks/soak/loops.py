"""What the platform does by itself: the loops of Celery's beat and the chores on files, one by one in this process."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock
from uuid import UUID

from django.db.models import Min

from apps.clusters.models import Node
from apps.common.actor import Channel, system_actor
from apps.common.scoping import acting
from apps.envs.choices import StepStatus
from apps.envs.models import Operation
from apps.envs.reconcile import idle
from apps.envs.reconcile.chores import OPERATIONS
from apps.storage.chores import CHORES
from apps.storage.runner import Chore
from apps.workloads.choices import LIVE, Status
from apps.workloads.hardware import simulation
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.programs import attempts_by_ref
from apps.workloads.reconcile import attempts
from apps.workloads.reconcile.schedule import run_pass
from benchmarks.soak.clock import Clock
from benchmarks.soak.machines import Machines
from plstack.celery import app

# `discover` would add the machine on which the soak runs; `simulate` is called whenever the clock has moved.
LEFT_OUT = frozenset({"workloads.discover", "workloads.simulate"})
# Loops that carry on what is under way: they run wherever the clock stops, not only where all do.
# Nudged, and done by a process that the soak has not.
LEFT_ELSEWHERE = frozenset({"storage.work"})
WATCH = "workloads.watch"
# Where the platform counts silence it believes in turns that follow each other, so they are run one by one then.
LISTEN_EVERY = timedelta(seconds=20)
QUICK = ("workloads.reconcile", "envs.advance")
CHORES_ON_FILES = {chore.name: chore for chore in (*CHORES, OPERATIONS)}
SCHEDULE = "workloads.schedule"
# More turns than this at one moment, and it will never come to rest.
MOST_TURNS = 60
LOOKS_AT_ONCE = 50


class Loops:
    """Runs what is due. `failures`: what a loop raised, or said at level ERROR."""

    def __init__(self, clock: Clock, machines: Machines) -> None:
        self.clock, self.machines = clock, machines
        app.loader.import_default_modules()
        self.every = {
            str(entry["task"]): float(entry["schedule"])
            for entry in app.conf.beat_schedule.values()
            if entry["task"] not in LEFT_OUT
        }
        self.every |= {name: chore.every_s for name, chore in CHORES_ON_FILES.items()}
        self.due = dict.fromkeys(self.every, clock.now())
        self.nudged: set[str] = set()
        self.failures: list[str] = []
        self.passes = 0
        self.looked_at = clock.seconds()

    def beat(self) -> None:
        """Every loop whose turn it is, in the order of the schedule, then what they nudged."""
        now = self.clock.now()
        for task in [task for task, at in self.due.items() if at <= now]:
            self.due[task] = now + timedelta(seconds=self.every[task])
            self._run(task)
        self.settle()

    def settle(self) -> None:
        """What was nudged, and what carries on, until nothing moves any more."""
        for turn in range(MOST_TURNS):
            nudged, self.nudged = self.nudged, set()
            for task in (*QUICK, OPERATIONS.name, *sorted(nudged - {*QUICK, *LEFT_ELSEWHERE})):
                self._run(task)
            if not self.nudged:
                return
            if turn == MOST_TURNS - 1:
                self.failures.append(f"does not come to rest: {sorted(self.nudged)}")

    def rest(self) -> int:
        """Passes until one places nothing; how many the last one placed."""
        placed = 0
        for _turn in range(MOST_TURNS):
            with acting(system_actor(Channel.TASK)) as actor:
                placed = run_pass(actor) or 0
            self.passes += 1
            self.settle()
            if not placed:
                return 0
        return placed

    def wake(self) -> None:
        """Living machines are heard from, and the attempts whose stubs have moved are looked at now."""
        with acting(system_actor(Channel.TASK)) as actor:
            simulation.beat(actor, self.machines.isolation())
            now = self.clock.seconds()
            refs = self.machines.due(self.looked_at, now)
            if refs:
                attempts_seen = attempts_by_ref(map(UUID, refs)).values()
                Attempt.objects.filter(pk__in=attempts_seen, ended_at__isnull=True).update(
                    next_check_at=self.clock.now()
                )
            again = Workload.objects.filter(status=Status.QUEUED, queued_at__lte=self.clock.now())
            if again.filter(queued_at__gt=datetime.fromtimestamp(self.looked_at, UTC)).exists():
                self.nudged.add(SCHEDULE)  # a replica whose pause is over: the scheduler looks all the time
            self.looked_at = now

    def _run(self, task: str) -> None:
        turns = 1
        if task == "workloads.reconcile":
            with acting(system_actor(Channel.TASK)):
                due = Attempt.objects.filter(ended_at__isnull=True, next_check_at__lte=self.clock.now()).count()
            turns += due // LOOKS_AT_ONCE
        self.passes += task == SCHEDULE
        for _turn in range(turns):
            try:
                if task in CHORES_ON_FILES:
                    self._chore(CHORES_ON_FILES[task])
                else:
                    app.tasks[task].run()
            except Exception as error:
                logging.getLogger(__name__).exception("%s", task)
                self.failures.append(f"{task}: {type(error).__name__}: {error}")

    def _chore(self, chore: Chore) -> None:
        """What the files process does in children of its own."""
        with acting(system_actor(Channel.TASK)):
            for piece in list(chore.due()):
                chore.run(piece.id)

    def listen(self) -> None:
        """A turn of the loop that watches machines, and what it nudged."""
        self._run(WATCH)
        self.settle()

    def next_deadline(self) -> datetime | None:
        """The next moment that the platform itself has set for something."""
        with acting(system_actor(Channel.TASK)):
            now = self.clock.now()
            moments = [
                _first(Operation.objects.filter(status=StepStatus.WAITING), "due_at", now),
                _first(Preemption.objects.filter(ended_at__isnull=True), "leave_at", now),
                _first(Workload.objects.filter(status__in=LIVE), "stop_by", now),
                _first(Node.objects.all(), "drain_until", now),
                _first(Workload.objects.filter(status=Status.QUEUED), "queued_at", now),
            ]
        return min((at for at in moments if at is not None), default=None)

    def nudge(self, task: str, *_arguments: Any, **_options: Any) -> None:
        """In the place of Celery's `send_task`."""
        self.nudged.add(task)


def _first(rows: Any, column: str, after: datetime) -> datetime | None:
    found: datetime | None = rows.filter(**{f"{column}__gt": after}).aggregate(first=Min(column))["first"]
    return found


class _Errors(logging.Handler):
    def __init__(self, loops: Loops) -> None:
        super().__init__(logging.ERROR)
        self.loops = loops

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith("apps."):
            cause = f": {record.exc_info[1]!r}" if record.exc_info else ""
            self.loops.failures.append(f"{record.name}: {record.getMessage()}{cause}")


@contextmanager
def running_loops(clock: Clock, machines: Machines, stride: timedelta) -> Iterator[Loops]:
    """Nudges come here, an attempt is looked at when something can be seen or a stride has passed, errors are kept."""
    loops = Loops(clock, machines)
    errors = _Errors(loops)
    logging.getLogger().addHandler(errors)
    try:
        with (
            mock.patch.object(app, "send_task", loops.nudge),
            mock.patch.object(attempts, "CHECK_AGAIN", stride),
            mock.patch.object(idle, "ASKED_AT_ONCE", 1),
        ):
            yield loops
    finally:
        logging.getLogger().removeHandler(errors)
