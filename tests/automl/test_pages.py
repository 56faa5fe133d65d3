"""Pages and API of experiments: what a person does, sees, and is told."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.automl.choices import ExperimentStatus
from apps.automl.models import Experiment
from apps.common.scoping import acting
from tests.automl.kit import Bench
from tests.builders import platform, signed_in

pytestmark = pytest.mark.django_db
REFUSED = 422
KATIB = """
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: random}
spec:
  objective:
    {type: maximize, goal: 0.99, objectiveMetricName: Validation-accuracy, additionalMetricNames: [Train-accuracy]}
  algorithm: {algorithmName: random}
  parallelTrialCount: 3
  maxTrialCount: 12
  maxFailedTrialCount: 3
  parameters:
    - {name: lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.03"}}
    - {name: num-layers, parameterType: int, feasibleSpace: {min: "2", max: "5"}}
    - {name: optimizer, parameterType: categorical, feasibleSpace: {list: [sgd, adam, ftrl]}}
  trialTemplate:
    primaryContainerName: training-container
    trialParameters: [{name: learningRate, reference: lr}]
    trialSpec: {apiVersion: batch/v1, kind: Job}
"""


@pytest.fixture
def client(bench: Bench) -> Client:
    return signed_in(bench.world.alice)


def posted(bench: Bench, **changes: Any) -> dict[str, Any]:
    values = {
        "key": uuid4().hex,
        "run": str(bench.template.pk),
        "name": "digits tuning",
        "metric": "loss",
        "direction": "minimize",
        "algorithm": "grid",
        "early_stopping": "none",
        "most_trials": "4",
        "parallel": "2",
        "most_failed": "1",
        "resume_policy": "LongRunning",
        "parameter_name": ["lr", "opt", ""],
        "parameter_placed_name": ["--lr", "", ""],
        "parameter_placed_as": ["argument", "variable", "argument"],
        "parameter_kind": ["double", "categorical", "double"],
        "parameter_low": ["0.1", "", ""],
        "parameter_high": ["0.4", "", ""],
        "parameter_step": ["0.1", "", ""],
        "parameter_scale": ["", "", ""],
        "parameter_choices": ["", "sgd，adam", ""],
        "parameter_when": ["", "", ""],
    }
    return {**values, **changes}


def experiments() -> list[Experiment]:
    with acting(platform()):
        return list(Experiment.objects.all())


def test_the_form_begins_with_the_runs_arguments_and_metrics(bench: Bench, client: Client) -> None:
    page = client.get(reverse("tuning:new"), {"run": str(bench.template.pk)}).content.decode()
    assert 'value="--lr"' in page
    assert "digits v1" in page


def test_a_form_that_is_right_starts_it(bench: Bench, client: Client) -> None:
    answer = client.post(reverse("tuning:new"), posted(bench))
    (experiment,) = experiments()
    assert answer.url == reverse("tuning:detail", args=[experiment.pk])  # type: ignore[attr-defined]
    parameters = experiment.parameters["parameters"]
    assert [(each["name"], each["choices"]) for each in parameters] == [("lr", []), ("opt", ["sgd", "adam"])]
    assert experiment.placements["opt"] == {"as": "variable", "name": "OPT"}
    assert client.get(answer.url).status_code == 200  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameter_low": ["x", "", ""]}, "This is no number."),
        ({"parameter_high": ["0.01", "", ""]}, "The largest value is below the smallest"),
        ({"parameter_when": ["", "lr", ""]}, "Write it as optimizer = sgd, adam."),
        ({"metric": ""}, "Name the metric to search by."),
        ({"name": ""}, "Give the experiment a name."),
        ({"budget": "0.001"}, "budget"),
        ({"algorithm": "cmaes"}, "not choices of words"),
    ],
)
def test_what_is_wrong_stands_beside_it_and_nothing_is_lost(
    bench: Bench, client: Client, changes: dict[str, Any], words: str
) -> None:
    answer = client.post(reverse("tuning:new"), posted(bench, **changes))
    page = answer.content.decode()
    assert answer.status_code == REFUSED
    assert words in page
    assert 'value="0.4"' in page or "parameter_high" in changes
    assert not experiments()


def test_every_tab_shows_what_it_is_about(bench: Bench, client: Client) -> None:
    experiment = bench.create(parallel=2)
    bench.turn(experiment)
    first, second = bench.trials(experiment)
    bench.finish(first, 0.25)
    bench.end(second)
    bench.turn(experiment)
    url = reverse("tuning:detail", args=[experiment.pk])
    for tab, words in {
        "overview": "0.25",
        "trials": "Metric missing",
        "analysis": "While they ran",
        "settings": "Grid",
    }.items():
        page = client.get(url, {"tab": tab})
        assert page.status_code == 200
        assert words in page.content.decode()


@pytest.mark.parametrize(("said", "words"), [("accuracy", "It said:"), (None, "It said no metric at all.")])
def test_a_metric_that_never_comes_is_told_with_what_came(
    bench: Bench, client: Client, said: str | None, words: str
) -> None:
    experiment = bench.create(parallel=1, most_failed=0)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    if said:
        bench.say(trial, 0.5, metric=said)
    bench.end(trial)
    bench.turn(experiment)
    page = client.get(reverse("tuning:detail", args=[experiment.pk])).content.decode()
    assert "never said loss" in page
    assert words in page
    assert (said or "loss=0.42") in page


def test_the_list_leaves_trials_out_of_the_runs_unless_asked(bench: Bench, client: Client) -> None:
    experiment = bench.create(parallel=2)
    bench.turn(experiment)
    runs = reverse("training:list")
    assert "digits tuning 1" not in client.get(runs).content.decode()
    assert "digits tuning 1" in client.get(runs, {"trials": "only"}).content.decode()
    assert "digits tuning 1" in client.get(runs, {"experiment": str(experiment.pk)}).content.decode()
    assert "digits tuning" in client.get(reverse("tuning:list")).content.decode()


def test_stopping_asks_first_and_says_what_stays(bench: Bench, client: Client) -> None:
    experiment = bench.create()
    asked = client.get(reverse("tuning:ask", args=[experiment.pk, "stop"])).content.decode()
    assert "All trials with their runs" in asked
    client.post(reverse("tuning:act", args=[experiment.pk, "stop"]))
    assert bench.reload(experiment).status == ExperimentStatus.ENDING


def test_the_best_values_become_the_next_version_of_the_run(bench: Bench, client: Client) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    bench.finish(trial, 0.25)
    bench.turn(experiment)
    args = [experiment.pk, 1, "adopt"]
    assert "lr = " in client.get(reverse("tuning:ask_trial", args=args)).content.decode()
    answer = client.post(reverse("tuning:act_trial", args=args), {"key": uuid4().hex})
    with acting(platform()):
        run = bench.template.children.get()
    assert answer.url == reverse("training:detail", args=[run.pk])  # type: ignore[attr-defined]
    assert (run.version, run.trial_of) == (2, None)
    assert dict(map(tuple, run.arguments))["--layers"] == str(trial.values["layers"])  # type: ignore[arg-type]


def test_katibs_own_example_fills_the_form(bench: Bench, client: Client) -> None:
    file = SimpleUploadedFile("random.yaml", KATIB.encode())
    page = client.post(reverse("tuning:read_katib"), {"file": file, "run": str(bench.template.pk)})
    text = page.content.decode()
    assert page.status_code == 200
    for words in ("Validation-accuracy", "num-layers", "sgd, adam, ftrl", 'value="12"'):
        assert words in text
    assert not experiments()


def test_a_file_that_is_none_of_katibs_is_refused_in_words(client: Client) -> None:
    file = SimpleUploadedFile("x.yaml", b"apiVersion: v1")
    page = client.post(reverse("tuning:read_katib"), {"file": file}, follow=True).content.decode()
    assert "This is no Experiment of Katib" in page


def test_an_experiment_leaves_as_katib_writes_it_and_comes_back(bench: Bench, client: Client) -> None:
    experiment = bench.create()
    file = client.get(reverse("tuning:katib", args=[experiment.pk])).content
    assert b"kubeflow.org/v1beta1" in file
    page = client.post(reverse("tuning:read_katib"), {"file": SimpleUploadedFile("x.yaml", file)}).content.decode()
    assert "0.1, 0.2, 0.3, 0.4" in page


def test_its_trials_leave_as_a_study_of_optuna(bench: Bench, client: Client) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    bench.finish(bench.trials(experiment)[0], 0.5)
    bench.turn(experiment)
    answer = client.get(reverse("tuning:study", args=[experiment.pk]))
    assert answer.content.startswith(b"SQLite format 3")


def test_the_api_starts_changes_and_ends_one(bench: Bench, client: Client) -> None:
    body = {
        "run": str(bench.template.pk),
        "name": "by the api",
        "objectives": [{"metric": "loss", "direction": "minimize"}],
        "algorithm": "random",
        "parameters": [{"name": "lr", "kind": "double", "low": 0.1, "high": 1.0}],
        "most_trials": 3,
    }
    made = client.post("/api/v1/tuning/experiments/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    url = f"/api/v1/tuning/experiments/{made.json()['id']}/"
    changed = client.patch(url, {"parallel": 2}, content_type="application/json").json()
    assert (changed["parallel"], changed["most_trials"]) == (2, 3)
    assert client.post(f"{url}pause/").json()["paused_at"]
    assert client.delete(f"{url}pause/").json()["paused_at"] is None
    assert client.delete(url).status_code == 409
    assert client.post(f"{url}stop/").status_code == 202
    assert client.get(f"{url}trials/").json() == []


def test_the_api_names_the_field_of_a_parameter(bench: Bench, client: Client) -> None:
    body = {
        "run": str(bench.template.pk),
        "name": "by the api",
        "objectives": [{"metric": "loss", "direction": "minimize"}],
        "parameters": [{"name": "lr", "kind": "double", "low": 2.0, "high": 1.0}],
    }
    answer = client.post("/api/v1/tuning/experiments/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "parameters.0.high" in answer.json()["fields"]


@pytest.mark.parametrize("name", ["importance", "outlook", "contour"])
def test_with_few_results_nothing_is_claimed(bench: Bench, client: Client, name: str) -> None:
    experiment = bench.create()
    page = client.get(reverse(f"tuning:{name}", args=[experiment.pk]))
    assert page.status_code == 200
    assert "Known once" in page.content.decode()
