"""The soak itself: set the clock to the next moment, let people act and the platform work, look every hour."""

import heapq
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import UUID

from django.test.utils import override_settings

from apps.clusters import services as clusters
from apps.clusters.choices import NodeStatus
from apps.clusters.models import Node
from apps.common import live
from apps.common.scoping import acting
from apps.workloads.choices import LIVE, PLACED, Status
from apps.workloads.hardware.policy import rules as silence_rules
from apps.workloads.models import Workload
from apps.workloads.reconcile import pass_cache as passes
from benchmarks.soak.clock import Clock
from benchmarks.soak.figures import figures
from benchmarks.soak.invariants import broken
from benchmarks.soak.look import Memory, look_now
from benchmarks.soak.loops import LISTEN_EVERY, Loops, running_loops
from benchmarks.soak.machines import Machines, simulated_machines
from benchmarks.soak.people import Crowd
from benchmarks.soak.plan import Plan, Violation
from benchmarks.soak.room import SILENCE
from benchmarks.soak.serving import serving_kind
from benchmarks.soak.world import World, make_small_world, make_world, platform

START = datetime(2027, 3, 10, 1, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SETTINGS = {
    "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
}
RECEIVED_WITHIN = timedelta(minutes=2)
# Once nobody arrives any more, nothing on any machine for so long means that the queue stands still.
STILL = timedelta(hours=2)


@dataclass(slots=True)
class Soak:
    """One run. Things to come are (moment, number, act)."""

    plan: Plan
    clock: Clock
    machines: Machines
    loops: Loops
    chance: random.Random
    violations: list[Violation] = field(default_factory=list)
    seen: Memory = field(default_factory=Memory)
    checks: int = 0
    reached_h: float = 0.0
    drained_h: float | None = None
    _coming: list[tuple[datetime, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _received_at: datetime = START
    _known: set[tuple[str, str]] = field(default_factory=set)
    _cpu: float = field(default_factory=time.process_time)
    _wall: float = field(default_factory=time.perf_counter)

    def run(self) -> dict[str, Any]:
        """People for as long as planned, then until nothing waits; the result for `--json`."""
        crowd = self.crowd()
        world = crowd.world
        end = self.clock.now() + self.plan.hours * HOUR
        self._begin(world, crowd, end)
        self.until(end)
        self.reached_h = round((self.clock.now() - START) / HOUR, 2)
        if not self._done():
            self._stop_arrivals(crowd, world)
            self._drain()
        cpu = time.process_time() - self._cpu
        return {**figures(self, crowd), "cpu_s": round(cpu, 1), "wall_s": round(time.perf_counter() - self._wall, 1)}

    def crowd(self) -> Crowd:
        """Machines and people, before anything has happened."""
        with acting(platform()):
            world = self._world()
        keys = lambda: UUID(int=self.chance.getrandbits(128), version=4)  # noqa: E731
        return Crowd(world, self.chance, keys, self.plan)

    def _world(self) -> World:
        if self.plan.small:
            return make_small_world(self.chance, people=self.plan.people, machines=self.plan.machines)
        return make_world(self.chance, people=self.plan.people, organisations=self.plan.organisations)

    def at(self, moment: datetime, act: Callable[[], None]) -> None:
        heapq.heappush(self._coming, (moment, next(self._numbers), act))

    def _begin(self, world: World, crowd: Crowd, end: datetime) -> None:
        now = self.clock.now()
        for person in world.people:
            self._keep_acting(crowd, person, now, end)
        self.repeat_loops()
        days = self.plan.hours / 24
        for number in range(int(days * 4)):
            self.at(now + self._some(), lambda number=number: self._act(lambda: crowd.pay(number)))  # type: ignore[misc]
        for _death in range(round(days * self.plan.deaths_a_day)):
            self.at(now + self._some(), lambda: self._fail(world))
        for _drain in range(0 if self.plan.small else int(days)):
            self.at(now + self._some(), lambda: self._drain_one(crowd, world))

    def repeat_loops(self) -> None:
        """All loops each stride, all invariants each hour, from now on."""
        now = self.clock.now()
        self._repeat(now, self.plan.stride, self.loops.beat)
        self._repeat(now + HOUR, HOUR, self.check)

    def _some(self) -> timedelta:
        """Some moment of the time that is planned."""
        return self.chance.uniform(0.02, 0.95) * self.plan.hours * HOUR

    def _keep_acting(self, crowd: Crowd, person: Any, now: datetime, end: datetime) -> None:
        moment = now + crowd.pause(person, now.hour)
        if moment < end:

            def act() -> None:
                crowd.act(person)
                self._keep_acting(crowd, person, moment, end)

            self.at(moment, act)

    def _repeat(self, moment: datetime, every: timedelta, act: Callable[[], None]) -> None:
        def again() -> None:
            act()
            self._repeat(moment + every, every, act)

        self.at(moment, again)

    def _act(self, act: Callable[[], None]) -> None:
        with acting(platform()):
            act()

    def _fail(self, world: World) -> None:
        """A machine goes silent for some hours; half of them have lost what ran when they come back."""
        with acting(platform()) as actor:
            alive = [node.name for node in world.nodes() if node.name not in self.machines.silent]
            if not alive:
                return
            name = self.chance.choice(alive)
            self.machines.fail(actor, Node.objects.get(name=name))
            listening = (silence_rules().lost_after or SILENCE) + 2 * LISTEN_EVERY
        back, rebooted = timedelta(hours=self.chance.uniform(0.1, 5.0)), self.chance.random() < 0.5
        self.at(self.clock.now() + back, lambda: self._return(name, rebooted=rebooted))
        for turn in range(1, listening // LISTEN_EVERY + 1):
            self.at(self.clock.now() + turn * LISTEN_EVERY, self.loops.listen)

    def _return(self, name: str, *, rebooted: bool) -> None:
        with acting(platform()) as actor:
            self.machines.come_back(actor, name, rebooted=rebooted)
        self.loops.wake()
        # It takes work again once what it still ran is proved gone, after a minute; the platform looks all the time.
        for turn in range(1, RECEIVED_WITHIN // LISTEN_EVERY + 1):
            self.at(self.clock.now() + turn * LISTEN_EVERY, self.loops.listen)
        self._received_at = self.clock.now() + RECEIVED_WITHIN

    def _drain_one(self, crowd: Crowd, world: World) -> None:
        crowd.drain_a_node()
        self.at(self.clock.now() + timedelta(hours=3), lambda: self._open_all(world))

    def _open_all(self, world: World) -> None:
        """Whoever emptied a machine opens it again once it is empty, and cancels what has not become so."""
        with acting(platform()) as actor:
            for node in world.nodes():
                if node.status == NodeStatus.CORDONED:
                    clusters.cordon(actor, node_id=node.pk, cordoned=False)

    def _stop_arrivals(self, crowd: Crowd, world: World) -> None:
        self._coming.clear()
        for name in list(self.machines.silent):
            self._return(name, rebooted=False)
        self.loops.beat()
        self._open_all(world)
        self._act(lambda: crowd.pay_all("last"))
        crowd.leave()
        self.repeat_loops()

    def _drain(self) -> None:
        """Whatever can ever run has run once nobody comes any more."""
        began = busy = self.clock.now()
        while self._live() and self.clock.now() < busy + STILL and not self._done():
            self._step(busy + STILL)
            if self._live(PLACED):
                busy = self.clock.now()
        self.drained_h = round((self.clock.now() - began) / HOUR, 2)
        with acting(platform()):
            for workload in Workload.objects.filter(status=Status.QUEUED):
                look = look_now(self.clock.now(), self.machines, self.seen)
                self.report("the_queue_runs_empty", f"{look.who(workload)} never started: {workload.explanation}")
        self.check()

    def _live(self, statuses: Collection[Status] = LIVE) -> bool:
        with acting(platform()):
            return Workload.objects.filter(status__in=statuses).exists()

    def until(self, end: datetime) -> None:
        while self.clock.now() < end and not self._done():
            self._step(end)

    def _step(self, end: datetime) -> None:
        """To the next moment at which anything happens; then let it come to rest."""
        moments = [end, self._coming[0][0] if self._coming else end]
        deadline, change = self.loops.next_deadline(), self.machines.next_change(self.clock.seconds())
        if deadline is not None:
            moments.append(deadline)
        if change is not None:
            moments.append(datetime.fromtimestamp(change, UTC) + timedelta(microseconds=1))
        self.clock.set(min(moments))
        self.loops.wake()
        while self._coming and self._coming[0][0] <= self.clock.now():
            heapq.heappop(self._coming)[2]()
        self.loops.settle()

    def check(self) -> None:
        """Everything that has to hold, after a pass at rest; a little later while a machine is being received back."""
        if self.clock.now() < self._received_at:
            self.at(self._received_at, self.check)
            return
        self.checks += 1
        if self.loops.rest():
            self.report("passes_come_to_rest", "passes go on placing work at one moment")
        with acting(platform()):
            look = look_now(self.clock.now(), self.machines, self.seen)
            for name, text in broken(look):
                self.report(name, text)
        for text in self.loops.failures:
            self.report("no_loop_fails", text)
        self.loops.failures.clear()
        self.machines.forget_ended()

    def report(self, name: str, text: str) -> None:
        """Once for each sentence."""
        if (name, text) not in self._known:
            self._known.add((name, text))
            cpu = round(time.process_time() - self._cpu, 1)
            self.violations.append(Violation(f"{self.clock.now():%Y-%m-%d %H:%M}", name, text, cpu))

    def _done(self) -> bool:
        late = self.plan.within is not None and time.perf_counter() - self._wall > self.plan.within.total_seconds()
        return late or (self.plan.stop_at_first and bool(self.violations))


@contextmanager
def prepared(plan: Plan, clock: Clock) -> Iterator[Soak]:
    """A soak in a scratch database, with a folder of its own and ids that follow from the seed."""
    home = Path(tempfile.mkdtemp(prefix="plstack-soak-"))
    chance = random.Random(plan.seed)  # noqa: S311
    ids = random.Random(plan.seed + 1)  # noqa: S311
    clock.set(START)
    try:
        with (
            override_settings(PLSTACK_HOME=home, **SETTINGS),
            mock.patch.object(live, "_publish"),  # nobody watches
            mock.patch("os.urandom", ids.randbytes),
            mock.patch.object(passes, "_shelf", passes._Shelf()),
            simulated_machines(clock.seconds) as machines,
            running_loops(clock, machines, plan.stride) as loops,
            serving_kind(),
        ):
            yield Soak(plan, clock, machines, loops, chance)
    finally:
        shutil.rmtree(home, ignore_errors=True)
