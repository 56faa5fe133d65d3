"""The process that works on files: copies, archives, versions, measuring, cleaning, each in a child that can be killed.

It is separate from the workers that start runs and keep the books, so that whatever a tenant's files do to it stops
nobody's runs or bills. It polls the database every second and needs no broker. Killing it kills its children: the next
runner finds their jobs half a minute after their last progress.
"""

import logging
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.translation import ngettext

from apps.common.actor import system_actor
from apps.common.clock import db_now
from apps.common.heartbeats import Heartbeat
from apps.common.scoping import acting
from apps.storage import children, disk, states, working
from apps.storage.choices import JobStatus
from apps.storage.models import Job
from apps.storage.turns import Piece, Turns

TICK_S = 1.0
BEAT_S = 5.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chore:
    """Periodic work.

    `due` is called every `every_s` seconds and returns the pieces there are; `run` does one, in a child that is killed
    after `deadline_s`; `killed` is called then.
    """

    name: str
    every_s: float
    deadline_s: float
    due: Callable[[], Iterable[Piece]]
    run: Callable[[UUID], None]
    slots: int = 2
    killed: Callable[[UUID], None] | None = None


@dataclass(slots=True)
class Child:
    """A process and what it works on: a job, or a piece of a chore."""

    piece: Piece
    began: float
    job: Job | None = None
    chore: Chore | None = None
    killed: bool = False


@dataclass(slots=True)
class Runner:
    """`turn` once a second. One thread, without state that a restart would lose."""

    chores: tuple[Chore, ...]
    clock: Callable[[], float] = time.monotonic
    children: dict[int, Child] = field(default_factory=dict)
    _turns: Turns = field(default_factory=lambda: Turns(settings.PLSTACK_FILE_SLOTS))
    _chore_turns: dict[str, Turns] = field(default_factory=dict)
    _asked: dict[str, float] = field(default_factory=dict)
    _beaten: float = 0.0

    def turn(self) -> None:
        """Collect what ended, kill what is cancelled or overdue, start what is due. Raises DatabaseError."""
        with acting(system_actor()):
            self._collect()
            self._look_after_jobs()
            self._kill_overdue_chores()
            self._start_jobs()
            for chore in self.chores:
                self._start_chore(chore)

    def stop(self) -> None:
        """Kill the children; their jobs wait for the next runner, without having used up a try."""
        for pid, child in self.children.items():
            child.killed = child.killed or child.job is None
            children.kill(pid)
        until = self.clock() + 5
        with acting(system_actor()):
            while self.children and self.clock() < until:
                self._collect(tried=False)
                time.sleep(0.02)

    def _collect(self, *, tried: bool = True) -> None:
        for pid, status in children.reap_children().items():
            child = self.children.pop(pid, None)
            if child is None:
                continue
            if child.job is not None and status != children.DONE:
                working.retry_or_fail(child.job, tried=tried and status != children.BUSY)
            if child.job is not None and child.killed:
                working.clear_staging(child.job.organisation_id, child.job.pk)
            if status not in (children.DONE, children.BUSY):
                name = child.chore.name if child.chore is not None else f"job {child.piece.id}"
                log.warning("%s: its process ended with %s%s", name, status, " (killed)" if child.killed else "")

    # Jobs of people.

    def _look_after_jobs(self) -> None:
        mine = {child.job.pk: (pid, child) for pid, child in self.children.items() if child.job is not None}
        if not mine:
            return
        if self.clock() - self._beaten >= BEAT_S:
            self._beaten = self.clock()
            states.renew_claims(
                child.job for _pid, child in mine.values() if child.job is not None and not child.killed
            )
        now = db_now()
        found = {job.pk: job for job in Job.objects.filter(pk__in=list(mine)).select_related("owner")}
        for pk, (pid, child) in mine.items():
            if not child.killed and self._is_over(child, found.get(pk), now):
                child.killed = True
                children.kill(pid)

    def _is_over(self, child: Child, row: Job | None, now: datetime) -> bool:
        """Whether to kill the child: cancelled, somebody else's, or past a deadline, which its owner is told."""
        if row is None or child.job is None or row.status != JobStatus.RUNNING or row.fence != child.job.fence:
            return True
        words = overdue(row, now)
        return bool(words) and working.fail(row, words)

    def _start_jobs(self) -> None:
        while (piece := self._next_job()) is not None:
            job = states.claim(piece.id)
            self._turns.serve(piece)
            if job is not None:
                self._fork(Child(piece, self.clock(), job=job), partial(_do_job, job.pk, job.fence))

    def _next_job(self) -> Piece | None:
        first = states.due().order_by("organisation_id", "owner_id", "created_at")
        first = first.distinct("organisation_id", "owner_id")
        waiting = sorted(first, key=lambda job: job.created_at)
        pieces = [Piece(job.pk, job.organisation_id, job.owner_id) for job in waiting]
        # Two runners share the slots; what is killed and has not died yet still holds a process of ours.
        live = Job.objects.filter(status=JobStatus.RUNNING, beat_at__gte=db_now() - states.SILENT)
        held: Counter[tuple[UUID, UUID | int]] = Counter(live.values_list("organisation_id", "owner_id"))
        for child in self.children.values():
            if child.job is not None and child.killed:
                held[child.piece.organisation, child.piece.owner] += 1
        return self._turns.choose(pieces, held) if pieces else None

    # Chores.

    def _kill_overdue_chores(self) -> None:
        for pid, child in self.children.items():
            chore = child.chore
            if chore is not None and not child.killed and self.clock() - child.began > chore.deadline_s:
                child.killed = True
                children.kill(pid)
                log.warning("%s of %s took too long and was killed", chore.name, child.piece.organisation)
                if chore.killed is not None:
                    chore.killed(child.piece.id)

    def _start_chore(self, chore: Chore) -> None:
        if self.clock() - self._asked.get(chore.name, float("-inf")) < chore.every_s:
            return
        self._asked[chore.name] = self.clock()
        busy = [child.piece for child in self.children.values() if child.chore is chore]
        waiting = [piece for piece in chore.due() if piece.id not in {each.id for each in busy}]
        held = Counter((piece.organisation, piece.owner) for piece in busy)
        turns = self._chore_turns.setdefault(chore.name, Turns(chore.slots))
        while waiting and (piece := turns.choose(waiting, held)) is not None:
            turns.serve(piece)
            held[piece.organisation, piece.owner] += 1
            waiting.remove(piece)
            self._fork(Child(piece, self.clock(), chore=chore), partial(_do_chore, chore, piece.id))

    def _fork(self, child: Child, work: Callable[[], int]) -> None:
        name = child.chore.name if child.chore is not None else "file-job"
        self.children[children.fork(work, name)] = child


def overdue(job: Job, now: datetime) -> str:
    """Why the platform ends a job, as a sentence for its owner; empty while it may go on."""
    minutes, idle = settings.PLSTACK_FILE_JOB_MINUTES, settings.PLSTACK_FILE_JOB_IDLE_MINUTES
    if job.started_at is not None and now - job.started_at > timedelta(minutes=minutes):
        hours = max(1, round(minutes / 60))
        return ngettext(
            "It was ended after %(count)s hour, the longest that a job on files may take. Do it in smaller parts.",
            "It was ended after %(count)s hours, the longest that a job on files may take. Do it in smaller parts.",
            hours,
        ) % {"count": hours}
    if job.progress_at is not None and now - job.progress_at > timedelta(minutes=idle):
        count = max(1, round(idle))
        return ngettext(
            "It was ended because it got no further for %(count)s minute.",
            "It was ended because it got no further for %(count)s minutes.",
            count,
        ) % {"count": count}
    return ""


def _do_job(job_id: UUID, fence: int) -> int:
    with acting(system_actor()):
        job = Job.objects.select_related("owner").get(pk=job_id)
        return working.run_job(job) if job.fence == fence else children.BUSY


def _do_chore(chore: Chore, piece_id: UUID) -> int:
    with acting(system_actor()), disk.exclusive_turn(f"{chore.name}-{piece_id}") as ours:
        if ours:
            chore.run(piece_id)
    return children.DONE


def serve(chores: Iterable[Chore]) -> None:
    """Run until SIGTERM or SIGINT. Errors of the database or a child do not end it; each turn renews its heartbeat."""
    heart = Heartbeat("files")
    signal.pthread_sigmask(signal.SIG_BLOCK, children.SIGNALS)
    runner = Runner(tuple(chores))
    while True:
        try:
            runner.turn()
            heart.beat_if_due()
        except DatabaseError:
            log.exception("the database does not answer")
            connections.close_all()
        received = signal.sigtimedwait(children.SIGNALS, TICK_S)
        if received is not None and received.si_signo != signal.SIGCHLD:
            break
    runner.stop()
