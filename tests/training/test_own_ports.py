"""Ports of a run: named in the form and in the API, opened and shared on its page."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.training.launchers.names import LauncherName
from apps.training.models import Run
from apps.training.services import request_of
from apps.workloads.ports import declaring
from apps.workloads.spec import Port
from tests.builders import World, platform
from tests.training.kit import body_for, form_for, submit, text, url

LINES = "gradio 7860 The demo\nboard 6006@1"


def api(run: Run) -> str:
    return f"/api/v1/workloads/{run.workload_id}/ports/"


def newest() -> Run:
    with acting(platform()):
        return Run.objects.select_related("workload").latest("created_at")


def asked_again(run: Run) -> tuple[Port, ...]:
    with acting(platform()):
        return request_of(run, key="again").ports


def test_named_in_the_form_shared_on_the_page(world: World, alice: Client, bob: Client) -> None:
    answer = alice.post("/training/new/", form_for(world, members="2", ports=LINES))
    run = newest()
    assert answer.status_code == 302
    shown = text(alice.get(url("detail", run)))
    assert "The demo" in shown
    assert f'href="/open/{run.workload_id}/gradio/"' in shown
    assert "Share in the organisation" in shown
    assert asked_again(run) == declaring.parse(LINES)

    assert bob.get(api(run)).status_code == 404
    assert bob.post(f"/open/{run.workload_id}/gradio/sharing/", {"shared": "1"}).status_code == 404
    alice.post(f"/open/{run.workload_id}/gradio/sharing/", {"shared": "1"})
    assert "Stop sharing" in text(alice.get(url("detail", run)))
    seen = bob.get(api(run)).json()["ports"]
    assert [(port["name"], port["shared"], port["state"]) for port in seen] == [("gradio", True, "not_running")]
    alice.post(f"/open/{run.workload_id}/gradio/sharing/")
    assert bob.get(api(run)).status_code == 404


def test_named_and_shared_by_the_api(world: World, alice: Client, bob: Client, charlie: Client) -> None:
    asked = body_for(world, ports=[{"name": "gradio", "number": 7860, "label": "The demo"}])
    assert alice.post("/api/v1/training/runs/", asked, content_type="application/json").status_code == 201
    run = newest()
    path = f"{api(run)}gradio/"
    assert bob.put(path, {"shared": True}, content_type="application/json").status_code == 404
    assert charlie.put(path, {"shared": True}, content_type="application/json").status_code == 404
    assert alice.put(path, {"shared": True}, content_type="application/json").json()["ports"][0]["shared"] is True
    assert charlie.get(api(run)).status_code == 404
    assert alice.put(path, {}, content_type="application/json").status_code == 400


@pytest.mark.parametrize("ports", ["gradio 80", "Gradio 7860", "a 7860\nb 7860", "a 7860@1", "nonsense"])
def test_nonsense_is_refused_beside_the_field(world: World, alice: Client, ports: str) -> None:
    answer = alice.post("/training/new/", form_for(world, ports=ports))
    assert answer.status_code == 422
    with acting(world.actor):
        assert not Run.objects.exists()
    assert 'id="field-id_ports"' in text(answer)


def test_ray_brings_its_dashboard_and_a_rerun_brings_it_once(world: World) -> None:
    run = submit(world, members=2, launcher=LauncherName.RAY)
    assert [(port.name, port.number, port.rank) for port in run.workload.frozen_spec.ports] == [("ray", 8265, 0)]
    assert asked_again(run) == ()
