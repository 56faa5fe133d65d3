"""Several experiments share one quota: none takes it all, and nobody waits beside what is free."""

from collections import Counter
from typing import Any

import pytest

from apps.automl.choices import ExperimentStatus, Hurdle
from apps.common.errors import QuotaExceeded
from apps.training import services as runs
from apps.workloads.choices import TERMINAL
from tests.automl.kit import Bench

pytestmark = pytest.mark.django_db


def test_two_experiments_come_to_share_a_quota(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one holds all four places; as its trials end, the other gets places until both have two."""
    submit, first, second = runs.submit, bench.create(parallel=4, most_trials=12), None

    def limited(actor: Any, request: Any) -> Any:
        live = [each for each in _runs() if each.workload.status not in TERMINAL]
        if len(live) >= 4:
            raise QuotaExceeded("no")
        return submit(actor, request)

    def _runs() -> list[Any]:
        return [each for one in (first, second) if one is not None for each in bench.runs_of(one)]

    monkeypatch.setattr(runs, "submit", limited)
    bench.turn(first)
    second = bench.create(parallel=4, most_trials=12)
    bench.turn(second)
    assert bench.reload(second).hurdle == Hurdle.QUOTA
    shares = []
    for _ in range(4):
        running = bench.running(first)
        bench.finish(running[0], 1.0)
        bench.turn(first)  # it is looked at five times as often as the one that waits
        shares.append((len(bench.running(first)), len(bench.running(second))))
        assert sum(shares[-1]) == 4, "a place lies idle"
    assert shares[-1] == (2, 2)


def test_who_cannot_start_for_another_reason_holds_up_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    submit, started = runs.submit, Counter[str]()
    rich, poor = bench.create(parallel=3), bench.create(parallel=3)

    def refused(actor: Any, request: Any) -> Any:
        if request.trial_of == poor.pk:
            raise QuotaExceeded("a quota of their own")
        started["n"] += 1
        return submit(actor, request)

    monkeypatch.setattr(runs, "submit", refused)
    bench.turn(poor)
    after = bench.turn(rich)
    assert (after.status, after.hurdle, started["n"]) == (ExperimentStatus.RUNNING, Hurdle.NONE, 3)
