"""What would become of a task that nobody has submitted: asked of the scheduler itself, against the cluster as it is.

The engine is kept in the process and told what changed since it was asked last, and an answer holds for some seconds
unless something happens, so that a quote follows one's typing. Of the queue only those are looked at that the task
could meet: for whom room is kept, and who came since the last pass. The rest found nothing in that pass and keeps
nothing from anybody.
"""

from collections.abc import Callable, Iterator, Sequence
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
Answer = Callable[[Sequence[scheduler.Task], "HypotheticalWorld"], Sequence[A]]


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
        return self.forecasts([spec])[0]

    def forecasts(self, specs: Sequence[Spec]) -> list[Forecast]:
        """The same of each; together they take little longer than one."""
        return self._answered("forecast", specs, self._forecasts)

    def room(self, spec: Spec) -> int:
        """How many copies would start now were the queue empty; MOST means "or more"."""
        return self._answered("room", [spec], self._rooms)[0]

    def _answered(self, question: str, specs: Sequence[Spec], answer: Answer[A]) -> list[A]:
        """What was answered a moment ago, or new answers, one world after the other."""
        with acting(system_actor()):
            keys = [(question, self._task(spec), self.instead_of, self.usable) for spec in specs]
            for simulated in {spec.simulated for spec in specs}:
                standing = self._standing(simulated)
                here = [key for key, spec in zip(keys, specs, strict=True) if spec.simulated == simulated]
                new = [key for key in dict.fromkeys(here) if key not in standing.answers]
                if new:
                    found = answer([key[1] for key in new], self._ground(simulated, standing))
                    standing.answers.update(zip(new, found, strict=True))
            answers = [self._standing(spec.simulated).answers[key] for key, spec in zip(keys, specs, strict=True)]
        return cast(list[A], answers)

    def _standing(self, simulated: bool) -> Standing:
        if simulated not in self.standings:
            self.standings[simulated] = standing_of(self.now, simulated=simulated)
        return self.standings[simulated]

    def _forecasts(self, tasks: Sequence[scheduler.Task], ground: HypotheticalWorld) -> list[Forecast]:
        now, view = self.now.timestamp(), ground.view
        submitted = [
            estimated(replace(task, id=f"{ASKED}-{number}", submitted_at=now), ground.lesson)
            for number, task in enumerate(tasks)
        ]
        told = dict[str, scheduler.Wait | None].fromkeys(task.id for task in submitted)
        uncertain = [task for task in submitted if not _starts_at_once(task, ground)]
        if uncertain:
            told |= ground.engine.ask(
                view.waiting, uncertain, now, view.queues, view.holds, ground.rules, view.promised
            )
        return [_forecast(told[task.id], task, view) for task in submitted]

    def _rooms(self, tasks: Sequence[scheduler.Task], ground: HypotheticalWorld) -> list[int]:
        return [_room(task, ground.engine) for task in tasks]

    def _task(self, spec: Spec) -> scheduler.Task:
        """Without a moment, so that the same question is known again."""
        task = make_task(
            spec,
            id=ASKED,
            organisation=str(self.actor.organisation()),
            department=str(self.actor.department_id or ""),
            user=str(self.actor.user_id),
            priority=self.priority,
            submitted_at=0.0,
            min_runtime_s=self.min_runtime_s,
        )
        return replace(task, entitled=self._entitled(self._standing(spec.simulated)))

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


def _starts_at_once(task: scheduler.Task, ground: HypotheticalWorld) -> bool:
    """With nobody before it there is nothing to plan where it fits; that is told much sooner.

    Of a gang, a place for one member says nothing about the others.
    """
    return ground.quiet and task.gang is None and _spot(ground.engine, task) is not None


def _forecast(wait: scheduler.Wait | None, task: scheduler.Task, view: scheduler.Snapshot) -> Forecast:
    if wait is None:
        return Forecast(starts_now=True, explanation={})
    told = explanation_of(wait, task.organisation, known=has_history(view)) | {"position": None}
    return Forecast(False, told, _time(told["start_p50"]), _time(told["start_p90"]))


def _room(task: scheduler.Task, engine: scheduler.Engine) -> int:
    claims = list[Claim]()
    try:
        while len(claims) < MOST and (claim := _spot(engine, task)) is not None:
            engine.allocator.commit(claim)
            claims.append(claim)
        return len(claims)
    finally:
        engine.allocator.undo(claims)


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
        rules=policy.pass_rules(rules),
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
