"""Metrics on pages: the tab, the curves that charts ask for, comparing, the list's filter, and trying patterns."""

import pytest
from django.urls import reverse

from apps.common.scoping import acting
from apps.tracking.collecting.models import Collection
from apps.tracking.collecting.settings import MetricSettings
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.models import Run
from apps.training.services import request_of
from tests.builders import World, make_member, make_organisation, platform, signed_in
from tests.training.kit import form_for, submit, text, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(world: World) -> Run:
    return with_points(submit(world), 0.5, 0.25)


def with_points(run: Run, *losses: float) -> Run:
    with acting(platform()):
        record(
            workload_id=run.workload_id,
            points=[Point("train/loss", loss, step, 1_700_000_000.0 + step) for step, loss in enumerate(losses)],
        )
    return run


def test_the_tab_shows_last_and_best_values(world: World, run: Run) -> None:
    page = text(signed_in(world.alice).get(url("detail", run), {"tab": "metrics"}))
    assert "train/loss" in page
    assert "0.25" in page


def test_without_metrics_it_says_how_to_get_some(world: World) -> None:
    page = text(signed_in(world.alice).get(url("detail", submit(world)), {"tab": "metrics"}))
    assert "No metrics yet" in page
    assert "PLSTACK_OUTPUT" in page


def test_charts_ask_for_names_and_then_for_curves(world: World, run: Run) -> None:
    client, asked = signed_in(world.alice), reverse("training:curves")
    assert client.get(asked, {"run": str(run.pk)}).json()["names"] == ["train/loss"]
    (curve,) = client.get(asked, {"run": str(run.pk), "name": "train/loss", "axis": "step"}).json()["curves"]
    assert curve["points"] == [[0.0, 0.5, 0.5, 0.5], [1.0, 0.25, 0.25, 0.25]]
    assert client.get(asked, {"run": "x"}).status_code == 404


@pytest.mark.parametrize(("axis", "status"), [("step", 200), ("time", 200), ("sideways", 400)])
def test_the_api_takes_each_axis_and_refuses_another(world: World, run: Run, axis: str, status: int) -> None:
    chart = reverse("api-tracked-chart", args=[run.workload_id])
    assert signed_in(world.alice).get(chart, {"name": "train/loss", "axis": axis}).status_code == status


def test_strangers_find_nothing(world: World, run: Run) -> None:
    with acting(platform()):
        stranger = make_member(make_organisation(), "stranger")
    client = signed_in(stranger)
    assert client.get(reverse("training:curves"), {"run": str(run.pk)}).status_code == 404
    assert client.get(url("metrics_csv", run)).status_code == 404


def test_all_points_as_a_file(world: World, run: Run) -> None:
    answer = text(signed_in(world.alice).get(url("metrics_csv", run)))
    assert answer.splitlines()[1:] == [
        "train/loss,0,2023-11-14T22:13:20.000+00:00,0.5",
        "train/loss,1,2023-11-14T22:13:21.000+00:00,0.25",
    ]


def test_a_file_of_too_many_points_is_refused_in_words(world: World, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.tracking.raw_csv.MOST_LINES", 1)
    answer = signed_in(world.alice).get(url("metrics_csv", run))
    assert answer.status_code == 409
    assert "too much for one file" in text(answer)


def test_runs_side_by_side(world: World, run: Run) -> None:
    other = with_points(submit(world, name="other", arguments=(("--lr", "0.3"),)), 0.75)
    client = signed_in(world.alice)
    answer = client.post(reverse("training:compare"), {"id": [str(run.pk), str(other.pk)]})
    page = text(client.get(answer["Location"]))
    assert all(each in page for each in ("0.25", "0.75", "--lr", "other"))
    assert client.post(reverse("training:compare"), {"id": [str(run.pk)]})["Location"] == reverse("training:list")


def test_the_list_finds_runs_by_a_metric(world: World, run: Run) -> None:
    other = with_points(submit(world, name="other"), 0.75)
    client, api = signed_in(world.alice), reverse("api-runs")

    def found(condition: str) -> set[str]:
        return {row["id"] for row in client.get(api, {"metric": condition}).json()["results"]}

    assert found("train/loss<0.3") == {str(run.pk)}
    assert found("metric:train/loss >= 0.25 and train/loss<1") == {str(run.pk), str(other.pk)}
    assert found("train/loss=0.75") == {str(other.pk)}
    assert client.get(api, {"metric": "nonsense"}).status_code == 400


def test_a_condition_that_makes_no_sense_is_said_above_the_whole_list(world: World, run: Run) -> None:
    page = text(signed_in(world.alice).get(reverse("training:list"), {"metric": "loss<<3"}))
    assert "such as loss&lt;0.3 and acc&gt;0.9. The list is not filtered by it." in page
    assert run.name in page
    assert "not filtered" not in text(signed_in(world.alice).get(reverse("training:list"), {"metric": "loss<3"}))


def test_the_list_and_the_overview_show_progress(world: World, run: Run) -> None:
    with acting(platform()):
        said = {"done": 3.0, "total": 12, "unit": "epoch", "epoch": 3.0, "epochs": 12, "fraction": 0.25}
        Collection.objects.create(
            workload=run.workload,
            organisation=world.organisation,
            progress=said,
            headline_name="loss",
            headline_value=0.125,
        )
        type(run.workload).objects.filter(pk=run.workload_id).update(status="running")
    client = signed_in(world.alice)
    assert "25 % · loss 0.125" in text(client.get(reverse("training:list")))
    assert "Epoch 3 of 12" in text(client.get(url("detail", run)))


def test_patterns_are_tried_while_one_types(world: World) -> None:
    client, trial = signed_in(world.alice), reverse("training:try_patterns")
    page = text(client.post(trial, {"metric_patterns": r"cost (?P<cost>\S+)", "metric_sample": "cost 0.5"}))
    assert "cost = 0.5" in page
    assert "no regular expression" in text(client.post(trial, {"metric_patterns": "(", "metric_sample": "x"}))
    answer = client.post(
        reverse("api-metric-patterns"), {"sample": "epoch 1 loss=nan"}, content_type="application/json"
    )
    assert answer.json()[0]["points"] == [{"name": "loss", "value": "NaN", "step": 1}]


def test_patterns_go_with_the_run_and_its_next_version(world: World) -> None:
    pattern = r"cost (?P<cost>\S+)"
    client = signed_in(world.alice)
    client.post(reverse("training:new"), form_for(world, metric_patterns=pattern))
    with acting(platform()):
        run = Run.objects.select_related("workload").latest("created_at")
    assert run.metric_settings == {"read": True, "patterns": [pattern]}
    with acting(world.actor):
        assert request_of(run, key="again").metrics == MetricSettings(patterns=(pattern,))


def test_a_wrong_pattern_is_refused_beside_its_field(world: World) -> None:
    answer = signed_in(world.alice).post(reverse("training:new"), form_for(world, metric_patterns="("))
    assert "no regular expression" in text(answer)
    with acting(platform()):
        assert not Run.objects.exists()
