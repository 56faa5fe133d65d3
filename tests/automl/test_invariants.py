"""Whatever befalls an experiment and its trials, in whatever order: what always holds."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from apps.automl import services
from apps.automl.choices import COUNTED_AS_FAILED, LIVE, OPEN, EndReason, ExperimentStatus, TrialStatus
from apps.automl.models import Experiment
from apps.automl.reconcile import starting, suggesting
from apps.billing.caps.selectors import cap_limit
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, QuotaExceeded
from apps.common.scoping import acting
from apps.training import services as runs
from apps.workloads.choices import Reason, Status
from tests.automl.kit import Bench
from tests.automl.test_kill_points import Killed
from tests.builders import World, platform
from tests.searching import examples

MOST_TRIALS, PARALLEL, MOST_FAILED = 6, 2, 2


@dataclass(frozen=True)
class Event:
    """`what` befalls the `which`-th of the trials that run, or the experiment."""

    what: str
    which: int = 0
    loss: float = 1.0


events = st.lists(
    st.builds(
        Event,
        st.sampled_from(
            ["turn"] * 4
            + ["finish"] * 3
            + ["fail", "unmeasured", "gave_way", "stop_trial", "pause", "unpause", "refuse", "allow", "change"]
            + ["kill_make", "kill_submit", "stop", "go_on"]
        ),
        st.integers(0, 3),
        st.floats(0.0, 10.0),
    ),
    max_size=25,
)


class Life:
    """One experiment, and all that is done to it."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, budget_fen: int | None) -> None:
        self.bench, self.monkeypatch, self.submit = Bench(world), monkeypatch, runs.submit
        self.experiment = self.bench.create(
            parallel=PARALLEL, most_trials=MOST_TRIALS, most_failed=MOST_FAILED, budget_fen=budget_fen
        )
        self.refuses = False
        monkeypatch.setattr(runs, "submit", self._submit)

    def _submit(self, actor: Any, request: Any) -> Any:
        if self.refuses:
            raise QuotaExceeded("no")
        return self.submit(actor, request)

    def befall(self, event: Event) -> None:
        running = [each for each in self.bench.running(self.experiment) if each.run and each.run.workload.is_live]
        if event.what in ("finish", "fail", "unmeasured", "gave_way", "stop_trial"):
            if running:
                self._trial(event, running[event.which % len(running)])
        elif event.what == "turn":
            self.turn()
        elif event.what in ("refuse", "allow"):
            self.refuses = event.what == "refuse"
        elif event.what.startswith("kill"):
            self._killed(event.what)
        else:
            self._act(event)

    def turn(self) -> None:
        self.experiment = self.bench.turn(self.experiment)

    def _trial(self, event: Event, trial: Any) -> None:
        if event.what == "finish":
            self.bench.finish(trial, event.loss)
        elif event.what == "fail":
            self.bench.end(trial, Status.FAILED, Reason.EXIT_CODE)
        elif event.what == "unmeasured":
            self.bench.end(trial)
        elif event.what == "stop_trial":
            self._try(services.stop_trial, trial)
        # What gave way waits again: its workload is queued, which it is here already.

    def _act(self, event: Event) -> None:
        numbers = {"parallel": 1 + event.which, "most_trials": MOST_TRIALS, "most_failed": MOST_FAILED}
        acts: dict[str, Any] = {
            "pause": lambda: self._try(services.pause, self.experiment, paused=True),
            "unpause": lambda: self._try(services.pause, self.experiment, paused=False),
            "stop": lambda: self._try(services.stop, self.experiment),
            "go_on": lambda: self._try(services.go_on, self.experiment, more=1),
            "change": lambda: self._try(
                services.change, self.experiment, **numbers, budget_fen=self.experiment.budget_fen
            ),
        }
        acts[event.what]()
        self.experiment = self.bench.reload(self.experiment)

    def _try(self, act: Any, *args: Any, **kwargs: Any) -> None:
        actor = self.bench.world.actor
        try:
            with acting(actor):
                act(actor, *args, **kwargs)
        except (Conflict, Invalid):
            pass

    def _killed(self, what: str) -> None:
        where, name = (suggesting, "_make") if what == "kill_make" else (starting, "_submit")
        original = getattr(where, name)

        def dying(*args: Any) -> Any:
            original(*args)
            raise Killed

        with self.monkeypatch.context() as patch:
            patch.setattr(where, name, dying)
            try:
                self.turn()
            except Killed:
                self._expire()
            except QuotaExceeded:
                pass

    def _expire(self) -> None:
        with acting(platform()):
            Experiment.objects.filter(pk=self.experiment.pk).update(lease_until=db_now() - timedelta(seconds=1))

    def check(self) -> None:
        """What holds at every moment."""
        trials, made = self.bench.trials(self.experiment), self.bench.runs_of(self.experiment)
        assert [each.number for each in trials] == list(range(1, len(trials) + 1))
        assert len({str(sorted(each.values.items())) for each in trials}) == len(trials), "a point was tried twice"
        started = {each.run_id for each in trials if each.run_id}
        orphans = {each.pk for each in made} - started
        assert len(made) <= len(trials), "a trial was run twice"
        assert len(orphans) <= sum(1 for each in trials if each.run_id is None), "a run that no trial will find"
        assert len(trials) <= max(self.experiment.most_trials, MOST_TRIALS)
        with acting(platform()):
            caps = [Decimal(cap_limit(run.workload_id) or 0) for run in made]
        if self.experiment.budget_fen is not None:
            # Nothing was charged here, so what ended gave everything back; live caps alone are promised.
            live = [cap for cap, run in zip(caps, made, strict=True) if run.workload.is_live]
            assert sum(live, Decimal(0)) <= self.experiment.budget_fen

    def come_to_an_end(self) -> None:
        """Without further trouble it ends, and says why; nothing of it lives on."""
        self.refuses = False
        self._try(services.pause, self.experiment, paused=False)
        for _ in range(40):
            self.turn()
            self.check()
            if self.experiment.status not in OPEN:
                break
            for trial in self.bench.running(self.experiment):
                if trial.run is not None and trial.run.workload.is_live:
                    self.bench.finish(trial, 1.0)
        trials = self.bench.trials(self.experiment)
        assert self.experiment.status not in OPEN, "it waits for ever"
        assert not [each for each in trials if each.status in LIVE]
        assert not [run for run in self.bench.runs_of(self.experiment) if run.workload.is_live]
        failed = sum(each.status in COUNTED_AS_FAILED for each in trials)
        if self.experiment.reason == EndReason.ALL_TRIALS:
            assert len(trials) == self.experiment.most_trials
        if self.experiment.status == ExperimentStatus.SUCCEEDED:
            assert failed <= self.experiment.most_failed
        assert all(each.objectives for each in trials if each.status == TrialStatus.SUCCEEDED)


@pytest.mark.django_db
@settings(
    max_examples=examples(24),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=events, budget=st.sampled_from([None, 10_000, 200]))
def test_no_trial_is_lost_none_is_run_twice_and_it_always_ends(
    world: World, events: list[Event], budget: int | None
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        life = Life(world, monkeypatch, budget)
        for event in events:
            life.befall(event)
            life.check()
        life.come_to_an_end()
