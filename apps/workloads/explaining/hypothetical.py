"""What would become of a task that nobody has submitted: asked of the scheduler itself, against the cluster as it is.

The engine is kept in the process and told what changed since it was asked last, and an answer holds for some seconds
unless something happens, so that a quote follows one's typing. Of the queue only those are looked at that the task
could meet: for whom room is kept, and who came since the last pass. The rest found nothing in that pass and keeps
nothing from anybody.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, cast
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Now

import scheduler
from apps.clusters.rights import entitled_to
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Membership
from apps.workloads.choices import Status
from apps.workloads.explaining.standing import ALONE, Standing, standing_of
from apps.workloads.isolation import usable_nodes
from apps.workloads.models import Workload
from apps.workloads.queueing import policy, promises
from apps.workloads.queueing.tasks_of import entitled_tasks, make_task, task_of
from apps.workloads.reconcile import incremental_engine
from apps.workloads.reconcile.explaining import explanation_of, has_history
from apps.workloads.reconcile.history import Lesson, estimated
from apps.workloads.reconcile.queues import queues
from apps.workloads.simulation_scope import of_world
from apps.workloads.spec import Spec
from scheduler.cells import Claim
from scheduler.demand import demand_of
from scheduler.validate import problem_with

ASKED = "asked"
# So many that came since the last pass are taken into account.
NEWCOMERS = 200
USUAL_PRIORITY = 3
# Counting copies stops here: beyond it a person only wants to know that there is plenty.
MOST = 9
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Forecast:
    """`starts_now`, or the explanation of why not, with the estimated start where there is one."""

    starts_now: bool
    explanation: dict[str, Any]
    start_p50: datetime | None = None
    start_p90: datetime | None = None


@dataclass(frozen=True, slots=True)
class HypotheticalWorld:
    """One world at one moment: the engine, who may stand before the task that is asked about, and the rules."""

    lesson: Lesson
    engine: scheduler.Engine
    view: scheduler.Snapshot
    rules: scheduler.Rules
    quiet: bool


@dataclass(slots=True)
class Asking:
    """Questions of one person at one moment. `priority` is what they would submit with.

    `instead_of`: a queued workload that would be gone. `usable`: nodes whose isolation is enough for the organisation.
    `entitled`: the reserved clusters that it may use; read once some node is in one.
    """

    actor: Actor
    priority: int
    instead_of: UUID | None
    now: datetime
    usable: frozenset[str]
    min_runtime_s: float
    entitled: tuple[str, ...] | None = None
    standings: dict[bool, Standing] = field(default_factory=dict)
    grounds: dict[bool, HypotheticalWorld] = field(default_factory=dict)

    def forecast(self, spec: Spec) -> Forecast:
        """As if it were submitted alone, at the end of the queue."""
        return self._answered("forecast", spec, self._forecast)

    def room(self, spec: Spec) -> int:
        """How many copies would start now were the queue empty; MOST means "or more"."""
        return self._answered("room", spec, self._room)

    def _answered(self, question: str, spec: Spec, answer: Callable[[scheduler.Task, HypotheticalWorld], A]) -> A:
        """What was answered a moment ago, or a new answer."""
        with acting(system_actor()):
            standing = self._standing(spec.simulated)
            task = replace(self._task(spec), entitled=self._entitled(standing))
            key = (question, replace(task, submitted_at=0.0), self.instead_of, self.usable)
            if key not in standing.answers:
                standing.answers[key] = answer(task, self._ground(spec.simulated, standing))
        return cast(A, standing.answers[key])

    def _standing(self, simulated: bool) -> Standing:
        if simulated not in self.standings:
            self.standings[simulated] = standing_of(self.now, simulated=simulated)
        return self.standings[simulated]

    def _forecast(self, task: scheduler.Task, ground: HypotheticalWorld) -> Forecast:
        task = estimated(task, ground.lesson)
        # With nobody before it there is nothing to plan where it fits; that is told much sooner. Of a gang, a place for
        # one member says nothing about the others.
        if ground.quiet and task.gang is None and _spot(ground.engine, task) is not None:
            return Forecast(starts_now=True, explanation={})
        view = ground.view
        plan = ground.engine.plan(
            (*view.waiting, task), self.now.timestamp(), view.queues, view.holds, ground.rules, view.promised
        )
        wait = plan.wait_for(ASKED)
        if wait is None:
            return Forecast(starts_now=True, explanation={})
        known = has_history(view)
        told = explanation_of(wait, task.organisation, known=known) | {"position": None}
        return Forecast(False, told, _time(told["start_p50"]), _time(told["start_p90"]))

    def _room(self, task: scheduler.Task, ground: HypotheticalWorld) -> int:
        engine, claims = ground.engine, list[Claim]()
        try:
            while len(claims) < MOST and (claim := _spot(engine, task)) is not None:
                engine.allocator.commit(claim)
                claims.append(claim)
            return len(claims)
        finally:
            engine.allocator.undo(claims)

    def _task(self, spec: Spec) -> scheduler.Task:
        return make_task(
            spec,
            id=ASKED,
            organisation=str(self.actor.organisation()),
            department=str(self.actor.department_id or ""),
            user=str(self.actor.user_id),
            priority=self.priority,
            submitted_at=self.now.timestamp(),
            min_runtime_s=self.min_runtime_s,
        )

    def _entitled(self, standing: Standing) -> tuple[str, ...]:
        if not any(node.reserved for node in standing.world.nodes):
            return ()
        if self.entitled is None:
            self.entitled = entitled_to(self.actor.organisation())
        return self.entitled

    def _ground(self, simulated: bool, standing: Standing) -> HypotheticalWorld:
        if simulated not in self.grounds:
            self.grounds[simulated] = _hypothetical_world(self.now, simulated, standing, self.usable, self.instead_of)
        return self.grounds[simulated]


def _spot(engine: scheduler.Engine, task: scheduler.Task) -> Claim | None:
    """Where it would go by free room alone; None also for what cannot be understood."""
    return None if problem_with(task) else engine.allocator.best_claim(demand_of(task), task.organisation)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@contextmanager
def asking(actor: Actor, *, priority: int | None = None, instead_of: UUID | None = None) -> Iterator[Asking]:
    """Questions of this person, one person at a time. `instead_of`: a queued workload that would be gone.

    `priority`: the one that the person has in their organisation, unless told.
    """
    organisation = actor.organisation()
    with ALONE:
        with acting(system_actor()):
            now, rank = db_now(), priority or _priority(actor)
            usable = frozenset(str(pk) for pk in usable_nodes(organisation))
            least = policy.rules().min_runtime_s
        yield Asking(actor, rank, instead_of, now, usable, least)


def _priority(actor: Actor) -> int:
    if actor.priority is not None or actor.user_id is None:
        return actor.priority or USUAL_PRIORITY
    rows = Membership.objects.filter(organisation_id=actor.organisation(), user_id=actor.user_id)
    return rows.values_list("priority", flat=True).first() or USUAL_PRIORITY


def _hypothetical_world(
    now: datetime, simulated: bool, standing: Standing, usable: frozenset[str], instead_of: UUID | None
) -> HypotheticalWorld:
    world, rules = standing.world, policy.rules()
    waiting = _before(simulated, instead_of, standing.lesson, rules.min_runtime_s)
    ids, running = [task.id for task in waiting], world.all_running()
    view = scheduler.Snapshot(
        nodes=world.nodes,
        running=running,
        waiting=waiting,
        queues=queues(now, simulated=simulated),
        holds=promises.holds(ids, now),
        promised=promises.promised(ids),
    )
    return HypotheticalWorld(
        lesson=standing.lesson,
        engine=_usable_part(world, usable),
        view=view,
        rules=replace(policy.pass_rules(rules), explain_only=ASKED),
        quiet=not waiting and not _limited(view) and all(member.held_for is None for member in running),
    )


def _limited(view: scheduler.Snapshot) -> bool:
    return any(queue.limit != scheduler.Amount() for queue in view.queues)


def _usable_part(world: incremental_engine.LiveWorld, usable: frozenset[str]) -> scheduler.Engine:
    """The engine without the machines whose isolation is not enough for the organisation; mostly there are none."""
    nodes = tuple(node for node in world.nodes if node.id in usable)
    if len(nodes) == len(world.nodes):
        return world.engine
    return scheduler.Engine(nodes, world.all_running(), world.mix)


def _before(
    simulated: bool, instead_of: UUID | None, lesson: Lesson, min_runtime_s: float
) -> tuple[scheduler.Task, ...]:
    """Who may take room before a newcomer: those for whom room is kept, and those whom no pass has looked at."""
    rows = Workload.objects.filter(of_world(simulated), status=Status.QUEUED, queued_at__lte=Now())
    if instead_of is not None:
        rows = rows.exclude(pk=instead_of)
    kept_for = list(rows.filter(promised_at__isnull=False).order_by("queued_at", "pk"))
    new = rows.filter(Q(explained_at__isnull=True) | Q(explained_at__lt=F("queued_at")), promised_at__isnull=True)
    found = [*kept_for, *new.order_by("queued_at", "pk")[:NEWCOMERS]]
    found.sort(key=lambda workload: (workload.queued_at, workload.pk))
    tasks = entitled_tasks(task_of(workload, min_runtime_s) for workload in found)
    return tuple(estimated(task, lesson) for task in tasks)
