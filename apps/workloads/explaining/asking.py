"""What would become of a task that nobody has submitted: asked of the scheduler itself, against the cluster as it is.

The engine is kept in the process and told what changed since it was asked last, so that a quote follows one's typing.
Of the queue only those are looked at that the task could meet: for whom room is kept, and who came since the last pass.
The rest found nothing in that pass and keeps nothing from anybody.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import UUID

from django.db.models import F, Q

import scheduler
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.isolation import usable_nodes
from apps.workloads.models import Workload
from apps.workloads.queueing import mix, policy, promises
from apps.workloads.reconcile import kept, snapshot
from apps.workloads.reconcile.explaining import explanation_of, has_history
from apps.workloads.reconcile.history import Lesson, estimated, learned
from apps.workloads.reconcile.queues import queues
from apps.workloads.reconcile.tasks_of import make_task, task_of
from apps.workloads.spec import Spec
from apps.workloads.worlds import of_world
from scheduler.cells import Claim
from scheduler.demand import demand_of
from scheduler.validate import problem_with

ASKED = "asked"
# So many that came since the last pass are taken into account.
NEWCOMERS = 200
# Counting copies stops here: beyond it a person only wants to know that there is plenty.
MOST = 9


@dataclass(frozen=True, slots=True)
class Forecast:
    """`starts_now`, or the explanation of why not, with the estimated start where there is one."""

    starts_now: bool
    explanation: dict[str, Any]
    start_p50: datetime | None = None
    start_p90: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """One world at one moment: the engine, who may stand before the task that is asked about, and the rules."""

    now: datetime
    lesson: Lesson
    engine: scheduler.Engine
    view: scheduler.Snapshot
    rules: scheduler.Rules
    min_runtime_s: float
    known: bool
    quiet: bool


# One engine for each world. It takes and gives back room while it thinks, so one thread at a time.
_lock = Lock()
_worlds: dict[bool, kept.KeptWorld] = {}


@dataclass(frozen=True, slots=True)
class Asking:
    """Questions of one person at one moment. `priority` is what they would submit with."""

    actor: Actor
    priority: int
    grounds: dict[bool, Ground]

    def forecast(self, spec: Spec) -> Forecast:
        """As if it were submitted alone, at the end of the queue."""
        ground, task = self.grounds[spec.simulated], self._task(spec, ASKED)
        # With nobody before it there is nothing to plan where it fits; that is told much sooner.
        if ground.quiet and _spot(ground.engine, task) is not None:
            return Forecast(starts_now=True, explanation={})
        view = ground.view
        plan = ground.engine.plan(
            (*view.waiting, task), ground.now.timestamp(), view.queues, view.holds, ground.rules, view.promised
        )
        wait = plan.wait_for(ASKED)
        if wait is None:
            return Forecast(starts_now=True, explanation={})
        told = explanation_of(wait, task.organisation, known=ground.known) | {"position": None}
        return Forecast(False, told, _time(told["start_p50"]), _time(told["start_p90"]))

    def room(self, spec: Spec) -> int:
        """How many copies would start now were the queue empty; MOST means "or more"."""
        engine, claims = self.grounds[spec.simulated].engine, list[Claim]()
        task = self._task(spec, ASKED)
        try:
            while len(claims) < MOST and (claim := _spot(engine, task)) is not None:
                engine.allocator.commit(claim)
                claims.append(claim)
            return len(claims)
        finally:
            engine.allocator.undo(claims)

    def _task(self, spec: Spec, task_id: str) -> scheduler.Task:
        ground = self.grounds[spec.simulated]
        task = make_task(
            spec,
            id=task_id,
            organisation=str(self.actor.organisation()),
            department=str(self.actor.department_id or ""),
            user=str(self.actor.user_id),
            priority=self.priority,
            submitted_at=ground.now.timestamp(),
            min_runtime_s=ground.min_runtime_s,
        )
        return estimated(task, ground.lesson)


def _spot(engine: scheduler.Engine, task: scheduler.Task) -> Claim | None:
    """Where it would go by free room alone; None also for what cannot be understood."""
    return None if problem_with(task) else engine.allocator.spot(demand_of(task), task.organisation)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@contextmanager
def asking(
    actor: Actor, specs: Sequence[Spec], *, priority: int = 3, instead_of: UUID | None = None
) -> Iterator[Asking]:
    """Everything that questions about `specs` need, read once. `instead_of`: a queued workload that would be gone."""
    organisation = actor.organisation()
    with _lock:
        with acting(system_actor()):
            now = db_now()
            usable = {str(pk) for pk in usable_nodes(organisation)}
            worlds = {spec.simulated for spec in specs}
            grounds = {simulated: _ground(now, simulated, usable, instead_of) for simulated in worlds}
        yield Asking(actor, priority, grounds)


def _ground(now: datetime, simulated: bool, usable: set[str], instead_of: UUID | None) -> Ground:
    lesson, rules = learned(now, simulated=simulated), policy.rules()
    world = _followed(now, simulated, lesson, rules.min_runtime_s)
    waiting = _before(simulated, instead_of, lesson, rules.min_runtime_s)
    ids, running = [task.id for task in waiting], tuple(world.running.values())
    view = scheduler.Snapshot(
        nodes=world.nodes,
        running=running,
        waiting=waiting,
        queues=queues(now, simulated=simulated),
        holds=promises.holds(ids, now),
        promised=promises.promised(ids),
    )
    return Ground(
        now=now,
        lesson=lesson,
        engine=_usable_part(world, usable),
        view=view,
        rules=replace(scheduler.Rules(), notice_s=float(rules.notice_s), save_window_s=float(rules.save_s)),
        min_runtime_s=rules.min_runtime_s,
        known=has_history(view),
        quiet=not waiting and not _limited(view) and all(member.held_for is None for member in running),
    )


def _limited(view: scheduler.Snapshot) -> bool:
    return any(queue.limit != scheduler.Amount() for queue in view.queues)


def _followed(now: datetime, simulated: bool, lesson: Lesson, min_runtime_s: float) -> kept.KeptWorld:
    before = _worlds.pop(simulated, None)  # lost where following fails half-way: then it is made anew
    used = mix.from_json(snapshot.mix_of_epoch(simulated)).used
    _worlds[simulated] = kept.follow(before, now, lesson, used, min_runtime_s=min_runtime_s, simulated=simulated)
    return _worlds[simulated]


def _usable_part(world: kept.KeptWorld, usable: set[str]) -> scheduler.Engine:
    """The engine without the machines whose isolation is not enough for the organisation; mostly there are none."""
    nodes = tuple(node for node in world.nodes if node.id in usable)
    if len(nodes) == len(world.nodes):
        return world.engine
    return scheduler.Engine(nodes, world.running.values(), world.mix)


def _before(
    simulated: bool, instead_of: UUID | None, lesson: Lesson, min_runtime_s: float
) -> tuple[scheduler.Task, ...]:
    """Who may take room before a newcomer: those for whom room is kept, and those whom no pass has looked at."""
    rows = Workload.objects.filter(of_world(simulated), status=Status.QUEUED).exclude(pk=instead_of)
    kept_for = list(rows.filter(promised_at__isnull=False).order_by("queued_at", "pk"))
    new = rows.filter(Q(explained_at__isnull=True) | Q(explained_at__lt=F("queued_at")), promised_at__isnull=True)
    found = [*kept_for, *new.order_by("queued_at", "pk")[:NEWCOMERS]]
    found.sort(key=lambda workload: (workload.queued_at, workload.pk))
    return tuple(estimated(task_of(workload, min_runtime_s), lesson) for workload in found)
