"""How long a run runs: said at launch, in pages and API alike, kept by clones, shown and changed while it lives."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.training.forms import initial_of_clone
from apps.training.models import Run
from apps.training.services import request_of
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training import kit
from tests.workloads.cards import make_gpu_node, make_gpu_package

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/training/runs/"
SAID = {"expected": "90 min", "longest": "2 小时", "gpu_idle": "30 min"}


def made() -> Run:
    with acting(platform()):
        return Run.objects.select_related("workload").get()


def test_they_are_said_at_launch_and_kept_by_a_clone(world: World, alice: Client) -> None:
    assert alice.post(reverse("training:new"), kit.form_for(world, **SAID)).status_code == 302
    run = made()
    assert (run.workload.expected_s, run.workload.longest_s) == (5400, 7200)
    assert run.workload.gpu_idle_minutes is None  # the package has no card
    with acting(world.actor):
        again = request_of(run, key="again")
        assert (again.expected_s, again.longest_s) == (5400, 7200)
        shown = initial_of_clone(world.actor, run)
        assert (shown["expected"], shown["longest"]) == ("1 h 30 min", "2 h")
    page = alice.get(reverse("training:new") + f"?from={run.pk}").content.decode()
    assert 'value="1 h 30 min"' in page


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("longest", "2", "with its units"),
        ("longest", "10 s", "one minute"),
        ("expected", "soon", "with its units"),
        ("expected", "3 h", "cannot be expected to run for longer"),
        ("gpu_idle", "2 min", "five minutes"),
    ],
)
def test_bad_input_is_said_beside_its_field(world: World, alice: Client, field: str, text: str, problem: str) -> None:
    refused = alice.post(reverse("training:new"), kit.form_for(world, **{"longest": "2 h", field: text}))
    assert refused.status_code == 422
    assert problem in refused.content.decode()
    with acting(platform()):
        assert not Run.objects.exists()


def test_the_api_says_the_same(world: World, alice: Client) -> None:
    body = kit.body_for(world, expected_s=600, longest_s=3600)
    run = alice.post(RUNS, body, content_type="application/json").json()
    assert (run["expected_s"], run["longest_s"], run["deadline_at"]) == (600, 3600, None)
    url = f"{RUNS}{run['id']}/longest/"
    assert alice.get(url).json() == {"longest_s": 3600, "deadline_at": None}
    for wrong in ({"longest_s": 5}, {"longest_s": "x"}, {}):
        assert alice.put(url, wrong, content_type="application/json").status_code == 400
    assert alice.put(url, {"longest_s": 7200}, content_type="application/json").json()["longest_s"] == 7200
    refused = alice.post(RUNS, kit.body_for(world, expected_s=3601, longest_s=3600), content_type="application/json")
    assert refused.status_code == 400
    assert "expected" in str(refused.json())


def test_it_is_shown_counted_down_and_changed_on_the_page(world: World, alice: Client) -> None:
    alice.post(reverse("training:new"), kit.form_for(world, longest="3 min"))
    run = made()
    page = reverse("training:longest", args=[run.pk])
    assert "Longest run time of" in alice.get(page, headers={"HX-Request": "true"}).content.decode()
    assert alice.post(page, {"longest": "x"}).status_code == 422
    assert alice.post(page, {"longest": "4 min"}).status_code == 302
    with acting(platform()):
        now = db_now()
        Workload.objects.filter(pk=run.workload_id).update(
            status=Status.RUNNING, started_at=now, deadline_at=now.replace(microsecond=0)
        )
    shown = alice.get(reverse("training:detail", args=[run.pk])).content.decode()
    assert "at most 4 min" in shown
    assert "It reaches its longest run time of 4 min" in shown
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(status=Status.STOPPING)
    assert alice.post(page, {"longest": "5 min"}).status_code == 422


def test_the_idle_rule_is_changed_on_the_page_and_by_the_api(world: World, alice: Client, bob: Client) -> None:
    with acting(platform()):
        make_gpu_node(1)
        package = make_gpu_package(1)
    run = alice.post(RUNS, kit.body_for(world, package=package.pk), content_type="application/json").json()
    page, url = reverse("training:gpu_idle", args=[run["id"]]), f"{RUNS}{run['id']}/gpu-idle/"
    assert "act-gpu-idle" in alice.get(reverse("training:detail", args=[run["id"]])).content.decode()
    assert "idle GPU" in alice.get(page, headers={"HX-Request": "true"}).content.decode()
    assert alice.get(url).json() == {"gpu_idle_minutes": None}
    assert alice.post(page, {"gpu_idle": "2 min"}).status_code == 422
    assert alice.post(page, {"gpu_idle": "45 min"}).status_code == 302
    assert alice.get(url).json() == {"gpu_idle_minutes": 45}
    for wrong in ({"gpu_idle_minutes": 4}, {"gpu_idle_minutes": "x"}, {}):
        assert alice.put(url, wrong, content_type="application/json").status_code == 400
    changed = alice.put(url, {"gpu_idle_minutes": None}, content_type="application/json")
    assert changed.json() == {"gpu_idle_minutes": None}
    assert bob.get(page).status_code == 404
    assert bob.put(url, {"gpu_idle_minutes": 30}, content_type="application/json").status_code == 404


def test_a_run_without_a_card_has_no_idle_rule(world: World, alice: Client) -> None:
    run = alice.post(RUNS, kit.body_for(world), content_type="application/json").json()
    assert "act-gpu-idle" not in alice.get(reverse("training:detail", args=[run["id"]])).content.decode()
    refused = alice.put(f"{RUNS}{run['id']}/gpu-idle/", {"gpu_idle_minutes": 30}, content_type="application/json")
    assert refused.status_code == 400
    assert "no GPU" in str(refused.json())
