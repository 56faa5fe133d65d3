"""Pages and API of pipelines: what a person does, sees, and is told."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.pipelines import selectors
from apps.pipelines.models import Pipeline, PipelineRun
from tests.builders import platform, signed_in
from tests.pipelines.kit import Bench

pytestmark = pytest.mark.django_db
REFUSED = 422


@pytest.fixture
def client(bench: Bench) -> Client:
    return signed_in(bench.world.alice)


def posted(bench: Bench, **changes: Any) -> dict[str, Any]:
    run = str(bench.template.pk)
    values = {
        "key": uuid4().hex,
        "name": "nightly",
        "step_name": ["prepare", "train", ""],
        "step_template": [run, run, run],
        "step_needs": ["", "prepare", ""],
        "step_inputs": ["", "prepare", ""],
        "step_arguments": ["", "--epochs=${epochs} --fast", ""],
        "step_environment": ["", "SEED=1", ""],
        "step_retries": ["", "2", ""],
        "step_pause_s": ["", "30", ""],
        "step_may_fail": ["", "yes", ""],
        "parameters_key": ["epochs", ""],
        "parameters_value": ["20", ""],
    }
    return {**values, **changes}


def pipelines() -> list[Pipeline]:
    with acting(platform()):
        return list(Pipeline.objects.all())


def graph_of(pipeline: Pipeline) -> Any:
    with acting(platform()):
        return selectors.graph_of(selectors.newest_version(pipeline))


def text(answer: Any) -> str:
    return str(answer.content.decode())


def test_a_form_that_is_right_makes_one_which_is_then_edited_and_started(bench: Bench, client: Client) -> None:
    answer: Any = client.post(reverse("pipelines:new"), posted(bench))
    (pipeline,) = pipelines()
    assert answer.url == reverse("pipelines:detail", args=[pipeline.pk])
    train = graph_of(pipeline).step("train")
    assert (train.inputs, train.retries, train.pause_s, train.may_fail) == (("prepare",), 2, 30, True)
    assert train.arguments == (("--epochs", "${epochs}"), ("--fast", ""))
    assert "a dashed line" in text(client.get(answer.url))
    edit = reverse("pipelines:edit", args=[pipeline.pk])
    assert "--epochs=${epochs} --fast" in text(client.get(edit))
    same = posted(bench, step_needs=["", "prepare: ended", ""])
    assert client.post(edit, same).status_code == 302
    (pipeline,) = pipelines()
    assert (pipeline.newest, graph_of(pipeline).step("train").needs[0].when) == (2, "ended")
    start = reverse("pipelines:start", args=[pipeline.pk])
    assert 'value="20"' in text(client.get(start))
    answer = client.post(start, {"key": uuid4().hex, "parameters.epochs": "7"})
    with acting(platform()):
        row = PipelineRun.objects.get()
    assert (answer.url, row.parameters) == (reverse("pipelines:run", args=[row.pk]), {"epochs": "7"})


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "Give the pipeline a name."),
    ({"step_needs": ["train", "prepare", ""]}, "These steps wait for each other"),
    ({"step_needs": ["", "prepare: loss ~ 3", ""]}, "loss ~ 3 cannot be read"),
    ({"step_template": ["", "", ""]}, "Choose the run that this step is like."),
    ({"step_template": [str(uuid4()), "", ""]}, "Choose the run"),
    ({"step_arguments": ["", "--x=${none}", ""]}, "The pipeline has no parameter none."),
    ({"step_environment": ["", "1X=3", ""]}, "does not start with a digit"),
    ({"step_environment": ["", "PLSTACK_X=3", ""]}, "are the platform&#x27;s own"),
    ({"step_retries": ["", "many", ""]}, "This is no whole number."),
    ({"parameters_key": ["a b", ""]}, "Letters, digits and _ only"),
    ({"parameters_key": ["epochs", "epochs"]}, "Two parameters have the same name."),
    ({"step_name": ["", "", ""], "step_needs": "", "step_inputs": "", "step_arguments": "", "step_environment": ""},
     "A pipeline has at least one step."),
]  # fmt: skip


def test_what_is_wrong_stands_beside_it_and_nothing_is_lost(bench: Bench, client: Client) -> None:
    for changes, words in BAD:
        answer = client.post(reverse("pipelines:new"), posted(bench, **changes))
        page = text(answer)
        assert answer.status_code == REFUSED, changes
        assert words in page, changes
        assert 'value="nightly"' in page or "name" in changes
        assert not pipelines()


def test_the_page_of_a_run_says_what_became_of_each_step(bench: Bench, client: Client) -> None:
    row = bench.go(
        bench.run_of(bench.step("a", retries=1), bench.step("b", "a"), bench.step("c", "a: loss < 1")), ["a"]
    )
    page = text(client.get(reverse("pipelines:run", args=[row.pk])))
    assert "This did not hold: a" in page
    assert "attempt 2" in page
    assert page.count('<rect width="168"') == 3
    assert text(client.get(reverse("pipelines:list"))).count("nightly") >= 1
    answer: Any = client.post(reverse("pipelines:act_run", args=[row.pk, "again"]))
    assert answer.status_code == 302
    assert bench.reload(row).is_open
    client.post(reverse("pipelines:act_run", args=[row.pk, "stop"]))
    assert bench.turn(row).status == "stopped"


def test_it_leaves_as_a_file_and_comes_back(bench: Bench, client: Client) -> None:
    steps = [
        bench.step("prepare", arguments=(("--epochs", "${n}"), ("--fast", ""), ("model.lr=", "1e-3"))),
        bench.step("train", "prepare", inputs=("prepare",), environment=(("RATE", "on"),), retries=1, pause_s=5),
        bench.step("tell", "train: failed, prepare: f1 >= 0.25", may_fail=True),
    ]
    pipeline = bench.create(*steps, parameters={"n": "20"}, note="each night")
    file = client.get(reverse("pipelines:file", args=[pipeline.pk])).content
    page = client.post(reverse("pipelines:read_file"), {"file": SimpleUploadedFile("x.yaml", file)})
    assert page.status_code == 200
    form = page.context["form"]
    assert [row.step() for row in form.rows] == steps
    assert (form.parameter_rows, form.initial["note"]) == ([("n", "20")], "each night")


BAD_FILES = [
    (b"a: [", "This is no YAML."),
    (b"kind: Other", "This is no pipeline"),
    (b"apiVersion: plstack/v1\nkind: Pipeline\nsteps: [{name: a}]", "steps[0].run is missing."),
    (b"apiVersion: plstack/v1\nkind: Pipeline\nsteps: [{name: a, run: b, needs: [{c: nonsense}]}]", "nonsense"),
    (b"\xff\xfe", "UTF-8"),
]


def test_what_is_wrong_with_a_file_is_said(bench: Bench, client: Client) -> None:
    for content, words in BAD_FILES:
        file = SimpleUploadedFile("x.yaml", content)
        answer = client.post(reverse("pipelines:read_file"), {"file": file}, follow=True)
        assert words in text(answer)


def test_the_api_makes_starts_and_ends_one(bench: Bench, client: Client) -> None:
    body = {
        "name": "by the api",
        "parameters": {"n": "1"},
        "steps": [
            {"name": "a", "run": str(bench.template.pk), "arguments": [{"name": "--n", "value": "${n}"}]},
            {
                "name": "b",
                "run": str(bench.template.pk),
                "needs": [{"step": "a", "metric": "loss", "comparison": "<", "value": 0.5}],
            },
        ],
    }
    json = {"content_type": "application/json"}
    made = client.post("/api/v1/pipelines/", body, **json)
    assert made.status_code == 201, made.content
    url = f"/api/v1/pipelines/{made.json()['id']}/"
    assert made.json()["steps"][1]["needs"][0]["metric"] == "loss"
    again = client.put(url, {**body, "steps": body["steps"][:1]}, **json).json()
    assert (again["version"], len(again["steps"])) == (2, 1)
    refused = client.put(url, {**body, "steps": [{**body["steps"][0], "name": "B"}]}, **json)  # type: ignore[dict-item]
    assert "steps.0.name" in refused.json()["fields"]
    twice = [client.post(f"{url}runs/", {"parameters": {"n": "2"}}, **json, HTTP_IDEMPOTENCY_KEY="k").json()] * 2
    assert (twice[0]["parameters"], twice[0]["id"]) == ({"n": "2"}, twice[1]["id"])
    run = f"/api/v1/pipelines/runs/{twice[0]['id']}/"
    assert [each["step"] for each in client.get(f"{run}steps/").json()] == ["a"]
    assert client.delete(url).status_code == 409
    assert client.post(f"{run}again/").status_code == 409
    assert client.post(f"{run}stop/").status_code == 202
    assert client.get(f"{url}runs/").json()["results"][0]["status"] == "ending"
