"""One scheduling pass: read what waits and runs, plan, write the decisions, in one transaction under one lock."""

from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import transaction

import scheduler
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads import nudge
from apps.workloads.choices import Reason
from apps.workloads.models import SchedulerEpoch
from apps.workloads.queueing import estimates, mix, policy, preempting, promises, standstill, usage
from apps.workloads.queueing.lock import try_to_schedule
from apps.workloads.reconcile import incremental_engine, pass_cache, snapshot
from apps.workloads.reconcile.explaining import has_history
from apps.workloads.reconcile.history import learned
from apps.workloads.reconcile.pass_cache import Epoch, PassCache
from apps.workloads.reconcile.reserve import reserve
from apps.workloads.reconcile.starting import MOST, start


@dataclass(frozen=True, slots=True)
class PassResult:
    """The result of a pass: tasks placed, tasks waiting, new causes not written yet; seconds by phase."""

    placed: int = 0
    waiting: int = 0
    unsaid: int = 0
    read_s: float = 0.0
    plan_s: float = 0.0
    write_s: float = 0.0

    def __add__(self, other: "PassResult") -> "PassResult":
        return PassResult(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class PreparedWorld:
    """One world before its decisions: the snapshot, its engine, and tasks that may use none of its nodes."""

    view: scheduler.Snapshot
    engine: scheduler.Engine
    rules: scheduler.Rules
    refused: frozenset[str]
    learned: mix.Learned


def run_pass(actor: Actor) -> int | None:
    """Place what fits and explain why the rest waits; returns how many were placed, None if another pass is running."""
    passed = run_whole_pass(actor)
    return None if passed is None else passed.placed


def run_whole_pass(actor: Actor) -> PassResult | None:
    """As `run_pass`, with the whole result."""
    began = monotonic()
    with transaction.atomic():
        if not try_to_schedule():
            return None
        known = pass_cache.take_cache(pass_cache.newest_epoch())
        now = db_now()
        usage.bring_up_to_date(now)
        known.queue.read(policy.rules().min_runtime_s)
        known.tidy()
        passed = PassResult(read_s=monotonic() - began)
        mixes, standing = {}, {}
        for simulated in known.queue.worlds():
            name = snapshot.world_name(simulated)
            look, done, still = _pass(actor, known, now, simulated)
            passed += done
            mixes[name] = mix.as_json(look.learned)
            standing[name] = _watched(look, still, now, simulated)
        epoch = _count(began, passed.waiting, mixes, standing)
    pass_cache.return_cache(known, epoch)
    _nudge(passed)
    return passed


def _nudge(passed: PassResult) -> None:
    if passed.placed:
        nudge.reconcile()
    if passed.placed >= MOST:
        nudge.schedule()


def _pass(
    actor: Actor, known: PassCache, now: datetime, simulated: bool
) -> tuple[PreparedWorld, PassResult, tuple[str, ...]]:
    """Decide and write one world; also returns tasks that wait beside free room although this pass changed nothing."""
    began = monotonic()
    look = _look(known, now, simulated)
    read = monotonic()
    waiting = [task for task in look.view.waiting if task.id not in look.refused]
    plan = look.engine.plan(waiting, now.timestamp(), look.view.queues, look.view.holds, look.rules, look.view.promised)
    planned = monotonic()
    at_rest = not plan.places and not plan.preempts
    still = look.engine.standing_still(waiting, plan.waits, now.timestamp()) if at_rest else ()
    placed, unsaid = _write(actor, known, look, plan, now)
    left = len(plan.waits) + len(look.refused)
    return look, PassResult(placed, left, unsaid, read - began, planned - read, monotonic() - planned), still


def _watched(look: PreparedWorld, still: tuple[str, ...], now: datetime, simulated: bool) -> dict[str, str]:
    """Since when tasks stand still; after a while, drop the world's promises and tell operators."""
    since = standstill.standing_since(standstill.standing(simulated), still, now)
    found = standstill.standstill_of(since, now)
    if found is not None:
        standstill.release_standstill(found, [task.id for task in look.view.waiting], simulated)
    return since


def _look(known: PassCache, now: datetime, simulated: bool) -> PreparedWorld:
    lesson, rules = learned(now, simulated=simulated), policy.rules()
    waiting = known.queue.waiting(lesson, simulated=simulated)
    reserved = reserve(waiting, simulated=simulated)
    mixed = mix.learn(mix.from_json(snapshot.mix_of_epoch(simulated)), now, simulated=simulated)
    world = known.worlds[simulated] = incremental_engine.follow(
        known.worlds.get(simulated),
        now,
        lesson,
        mixed.used,
        min_runtime_s=rules.min_runtime_s,
        simulated=simulated,
        closed=reserved.closed,
    )
    view = snapshot.snapshot_of(
        waiting,
        now,
        nodes=world.nodes,
        running=world.all_running(),
        used=mixed.used,
        simulated=simulated,
    )
    return PreparedWorld(view, world.engine, policy.pass_rules(rules), reserved.refused, mixed)


def _write(actor: Actor, known: PassCache, look: PreparedWorld, plan: scheduler.Plan, now: datetime) -> tuple[int, int]:
    """Write the plan; returns how many tasks were placed and how many new causes are left for the next pass."""
    started = start(actor, plan)
    waits = tuple(wait for wait in plan.waits if not started.is_ended(wait.task_id))
    promises.forget(started.placed)
    estimates.score_estimates(started.placed, now)
    wanted = [preempt for preempt in plan.preempts if not started.is_ended(preempt.for_task_id)]
    preempting.ask_to_leave(actor, wanted, now)
    promises.keep(waits, look.view.promised, now)
    may_tell = has_history(look.view)
    _note(known, tuple(wait for wait in waits if may_tell or wait.is_start_known), now)
    refusal: dict[str, Any] = {"cause": Reason.ISOLATION.value, "params": {}, "funnel": []}
    known.explanations.write(actor, dict.fromkeys(look.refused, refusal))
    unsaid = known.explanations.say(actor, waits, {task.id: task for task in look.view.waiting}, may_tell)
    known.forget(str(workload) for workload in started.placed)
    return len(started.placed), unsaid


def _note(known: PassCache, waits: tuple[scheduler.Wait, ...], now: datetime) -> None:
    """Record the first estimate of each stay in the queue."""
    stays = []
    for wait in waits:
        if wait.start_p50 is None or wait.start_p90 is None or wait.task_id in known.noted:
            continue
        waiting = known.queue.of(wait.task_id)
        p50, p90 = (datetime.fromtimestamp(at, UTC) for at in (wait.start_p50, wait.start_p90))
        stays.append(
            estimates.Stay(
                UUID(waiting.task.organisation), UUID(wait.task_id), waiting.attempts, wait.cause.code.value, p50, p90
            )
        )
        known.noted.add(wait.task_id)
    estimates.record_estimates(stays)


def _count(began: float, waiting: int, mixes: dict[str, Any], standing: dict[str, Any]) -> Epoch:
    epoch, _made = SchedulerEpoch.objects.select_for_update().get_or_create(pk=1)
    epoch.number += 1
    epoch.at = db_now()
    epoch.milliseconds, epoch.waiting = int((monotonic() - began) * 1000), waiting
    epoch.mix, epoch.standing = {**epoch.mix, **mixes}, standing
    epoch.save()
    return epoch.number, epoch.at
