"""Whatever befalls a pipeline's run and its steps, in whatever order: what always holds."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from apps.common.errors import Conflict, QuotaExceeded
from apps.common.scoping import acting
from apps.pipelines import starting
from apps.pipelines.choices import LIVE, RunStatus, StepStatus
from apps.pipelines.graph.steps import Graph, When
from apps.pipelines.reconcile import settling, submitting
from apps.training import services as runs
from apps.workloads.choices import Reason, Status
from tests.automl.test_kill_points import Killed
from tests.builders import World
from tests.pipelines.kit import Bench, expire
from tests.pipelines.test_graph import graphs
from tests.searching import examples


@dataclass(frozen=True)
class Event:
    """`what` befalls the `which`-th of the steps that run, or the whole."""

    what: str
    which: int = 0


events = st.lists(
    st.builds(
        Event,
        st.sampled_from(
            ["turn"] * 4
            + ["finish"] * 3
            + ["fail", "fail", "stop_step", "refuse", "allow", "kill_submit", "kill_settle", "stop", "again"]
        ),
        st.integers(0, 3),
    ),
    max_size=20,
)


class Life:
    """One run of a pipeline, and all that is done to it."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, graph: Graph, retries: int) -> None:
        self.bench, self.monkeypatch, self.submit = Bench(world), monkeypatch, runs.submit
        self.graph, self.retries, self.rounds, self.refuses = graph, retries, 1, False
        steps = [self.bench.step(each.name, retries=retries, may_fail=each.may_fail) for each in graph.steps]
        with_needs = [
            type(each)(**{**{name: getattr(each, name) for name in each.__slots__}, "needs": plain.needs})
            for each, plain in zip(steps, graph.steps, strict=True)
        ]
        self.row = self.bench.run_of(*with_needs)
        monkeypatch.setattr(runs, "submit", self._submit)

    def _submit(self, actor: Any, request: Any) -> Any:
        if self.refuses:
            raise QuotaExceeded("no")
        return self.submit(actor, request)

    def befall(self, event: Event) -> None:
        if event.what in ("finish", "fail", "stop_step"):
            self._step(event)
        elif event.what in ("refuse", "allow"):
            self.refuses = event.what == "refuse"
        elif event.what.startswith("kill"):
            self._killed(*{"kill_submit": (submitting, "_submit"), "kill_settle": (settling, "_end")}[event.what])
        elif event.what == "turn":
            self.row = self.bench.turn(self.row)
        else:
            self._act(event.what)

    def _step(self, event: Event) -> None:
        running = self.bench.living(self.row)
        if running:
            ends = {
                "finish": (Status.SUCCEEDED, Reason.FINISHED),
                "fail": (Status.FAILED, Reason.EXIT_CODE),
                "stop_step": (Status.STOPPED, Reason.BY_PERSON),
            }
            self.bench.end(running[event.which % len(running)], *ends[event.what])

    def _act(self, what: str) -> None:
        with acting(actor := self.bench.world.actor):
            try:
                if what == "stop":
                    starting.stop(actor, self.row)
                else:
                    starting.run_again(actor, self.row)
                    self.rounds += 1
            except Conflict:
                pass
        self.row = self.bench.reload(self.row)

    def _killed(self, where: Any, name: str) -> None:
        original = getattr(where, name)

        def dying(*args: Any, **kwargs: Any) -> Any:
            original(*args, **kwargs)
            raise Killed

        with self.monkeypatch.context() as patch:
            patch.setattr(where, name, dying)
            try:
                self.row = self.bench.turn(self.row)
            except Killed:
                expire(self.row)

    def check(self) -> None:
        """What holds at every moment."""
        attempts, made = self.bench.attempts(self.row), self.bench.runs_of(self.row)
        counted = Counter(each.step for each in attempts)
        assert all(count <= (1 + self.retries) * self.rounds for count in counted.values()), "too many attempts"
        keys = Counter(run.workload.submit_key for run in made)
        assert all(count == 1 for count in keys.values()), "an attempt was run twice"
        assert set(keys) <= {submitting.key_of(each) for each in attempts}
        alive = Counter(each.step for each in attempts if each.status in LIVE)
        assert all(count == 1 for count in alive.values())
        last = self.bench.last(self.row)
        for step in self.graph.steps:
            if last[step.name].status == StepStatus.RUNNING:
                for need in step.needs:
                    assert last[need.step].ended_at is not None, "it started before what it needs"
                    assert need.when is not When.SUCCEEDED or last[need.step].status == StepStatus.SUCCEEDED

    def come_to_an_end(self) -> None:
        """Without further trouble it ends; nothing of it lives on."""
        self.refuses = False
        self.row = self.bench.go(self.bench.reload(self.row)) if self.row.is_open else self.row
        self.check()
        assert not [each for each in self.bench.attempts(self.row) if each.status in LIVE]
        assert not [run for run in self.bench.runs_of(self.row) if run.workload.is_live]
        if self.row.status == RunStatus.SUCCEEDED:
            hard = [each.name for each in self.graph.steps if not each.may_fail]
            assert not [name for name in hard if self.bench.statuses(self.row)[name] == StepStatus.FAILED]


@pytest.mark.django_db
@settings(
    max_examples=examples(30),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(events=events, graph=graphs(), retries=st.integers(0, 2))
def test_no_step_is_lost_none_is_run_twice_and_it_always_ends(
    world: World, events: list[Event], graph: Graph, retries: int
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        life = Life(world, monkeypatch, graph, retries)
        for event in events:
            life.befall(event)
            life.check()
        life.come_to_an_end()
