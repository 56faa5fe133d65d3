"""The tab that shows what trials say together: fronts, landscapes, and which ran when on which card."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.automl import selectors
from apps.automl.choices import TrialStatus
from apps.automl.models import Trial
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.landscape import Landscape, Spot
from apps.automl.timeline import timeline
from apps.clusters.models import Accelerator
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Placement, Workload
from tests.automl.kit import LOSS, Bench
from tests.builders import platform, signed_in

WIDTH = Objective(metric="width", direction=Direction.MAXIMIZE)
FEW = st.integers(0, 4).map(float)


@given(st.lists(st.tuples(FEW, FEW), max_size=12))
def test_the_front_is_what_no_trial_beats(results: list[tuple[float, float]]) -> None:
    trials = [Trial(number=at, status=TrialStatus.SUCCEEDED, objectives=list(each)) for at, each in enumerate(results)]
    pruned = Trial(number=99, status=TrialStatus.PRUNED, objectives=[-1.0, 9.0])

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one != other and one[0] <= other[0] and one[1] >= other[1]

    wanted = {at for at, each in enumerate(results) if not any(beats(other, each) for other in results)}
    found = selectors.front_of((LOSS, WIDTH), [*trials, pruned])
    assert {each.number for each in trials if each.pk in found} == wanted
    assert pruned.pk not in found
    assert selectors.front_of((LOSS,), trials) == set()


@pytest.mark.django_db
def test_the_tab_marks_the_front_and_names_no_best(bench: Bench) -> None:
    experiment = bench.create(objectives=(LOSS, WIDTH), parallel=3)
    bench.turn(experiment)
    for trial, (loss, width) in zip(bench.trials(experiment), [(1, 1), (2, 2), (3, 1)], strict=True):
        bench.say(trial, loss)
        bench.say(trial, width, metric="width")
        bench.end(trial)
    bench.turn(experiment)
    page = signed_in(bench.world.alice).get(reverse("tuning:detail", args=[experiment.pk]), {"tab": "trials"})
    assert page.content.decode().count("on the front") == 2


def ran(bench: Bench, trial: Trial, card: Accelerator | None, begin: float, end: float | None, number: int = 1) -> None:
    """A try of a trial's run from one minute to another, on a card of a node."""
    assert trial.run is not None
    with acting(platform()):
        now = db_now()
        workload = Workload.objects.get(pk=trial.run.workload_id)
        moments: dict[str, Any] = {"started_at": now + timedelta(minutes=begin)}
        if end is not None:
            moments["ended_at"] = now + timedelta(minutes=end)
        node = card.node if card is not None else bench.world.node
        rows = {"organisation_id": workload.organisation_id, "node": node}
        attempt = Attempt.objects.create(
            workload=workload, number=number, placed_at=moments["started_at"], **moments, **rows
        )
        Placement.objects.create(attempt=attempt, cpu_milli=1000, **rows)
        if card is not None:
            Placement.objects.create(attempt=attempt, accelerator=card, **rows)


@pytest.mark.django_db
def test_trials_side_by_side_have_rows_of_their_own_and_those_after_each_other_share_one(bench: Bench) -> None:
    experiment = bench.create(parallel=3, most_failed=3)
    bench.turn(experiment)
    first, second, third = bench.trials(experiment)
    with acting(platform()):
        assert timeline(bench.trials(experiment)) is None
    ran(bench, first, None, -10, -6)
    ran(bench, second, None, -8, -2)
    ran(bench, third, None, -6, -5, number=1)
    ran(bench, third, None, -2, None, number=2)
    bench.finish(first, 0.25)
    bench.end(second, Status.FAILED)
    bench.turn(experiment)
    with acting(platform()):
        found = timeline([each for each in bench.trials(experiment) if each.number <= 3])
    assert found is not None
    numbers = [[bar.trial.number for bar in lane.bars] for lane in found.lanes]
    assert numbers == [[1, 3, 3], [2]]
    assert [[bar.tone for bar in lane.bars] for lane in found.lanes] == [["is-stop", "is-warn", "is-run"], ["is-fail"]]
    for lane in found.lanes:
        for one, other in zip(lane.bars, lane.bars[1:], strict=False):
            assert one.left + one.width <= other.left + 1e-6
        assert lane.bars[-1].left + lane.bars[-1].width <= 100 + 1e-6
    page = signed_in(bench.world.alice).get(reverse("tuning:detail", args=[experiment.pk]), {"tab": "analysis"})
    assert "Trials on cards" in page.content.decode()


@pytest.mark.django_db
def test_two_parameters_are_chosen_and_never_the_same_twice(
    bench: Bench, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    asked: list[tuple[str, str]] = []

    def learnt(_experiment: Any, across: str, up: str) -> Landscape:
        asked.append((across, up))
        spots = (Spot(number=1, across=0.5, up=0.5, value=0.25),)
        return Landscape(xs=(0.1, 0.2), ys=(1,), cells=((0.5, None),), spots=spots)

    monkeypatch.setattr("apps.automl.outlook.landscape", learnt)
    url, client = reverse("tuning:contour", args=[experiment.pk]), signed_in(bench.world.alice)
    for query in ({}, {"x": "layers"}, {"x": "lr", "y": "lr"}, {"x": "nobody", "y": "layers"}):
        page = client.get(url, query)
        assert page.status_code == 200
        assert 'data-plot="contour"' in page.content.decode()
    assert asked == [("lr", "layers"), ("layers", "lr"), ("lr", "layers"), ("lr", "layers")]
