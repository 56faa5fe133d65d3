"""From the page of a finished run to the page of a version, and the same by API; who may not see it finds nothing."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.modelhub.models import Model, ModelVersion
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.modelhub.formats import onnx
from tests.people import alice, bob, charlie, dora, world
from tests.storage.kit import put, work
from tests.training.kit import submit

__all__ = ["alice", "bob", "charlie", "dora", "world"]


@pytest.fixture
def run(world: World, tmp_path: Path, settings: LazySettings) -> Run:
    """It has ended, and has written a model and its log."""
    settings.PLSTACK_HOME = tmp_path
    made = submit(world, name="digits classifier")
    with acting(platform()):
        put(storage.root_of(made.output), "best/model.onnx", onnx())
        put(storage.root_of(made.output), "log.txt", "epoch 1")
        Workload.objects.filter(pk=made.workload_id).update(status=Status.SUCCEEDED, ended_at=made.created_at)
    return made


def register(client: Client, run: Run, **data: Any) -> ModelVersion:
    posted = {"path": "best", "model": "", "name": "digits", "note": "first", **data}
    answer = client.post(reverse("training:register", args=[run.pk]), posted)
    assert answer.status_code == 302, answer.content.decode()
    work()
    with acting(platform()):
        found: ModelVersion = ModelVersion.objects.select_related("model").latest("created_at")
    assert answer.headers["Location"] == reverse("models:version", args=[found.pk])
    return found


def page(client: Client, name: str, *args: Any, **query: str) -> str:
    answer = client.get(reverse(name, args=args), query)
    assert answer.status_code == 200, answer
    return str(answer.content.decode())


def test_a_finished_run_becomes_a_model_whose_page_says_what_it_is(alice: Client, run: Run) -> None:
    assert reverse("training:register", args=[run.pk]) in page(alice, "training:detail", run.pk)
    assert 'value="digits-classifier"' in page(alice, "training:register", run.pk, path="best")
    version = register(alice, run)
    shown = page(alice, "models:version", version.pk)
    for word in ("digits v1", "ONNX", "image", "FP32", "[?, 3, 224, 224]", "digits classifier v1", "opset 20"):
        assert word in shown, word
    assert reverse("training:of_workload", args=[run.workload_id]) in shown
    assert "model.onnx" in page(alice, "models:version", version.pk, tab="files")
    assert "ONNX" in page(alice, "models:list")
    for tab in ("versions", "sharing", "settings"):
        page(alice, "models:model", version.model_id, tab=tab)
    second = register(alice, run, path="best/model.onnx", model=str(version.model_id))
    assert (second.model_id, second.number) == (version.model_id, 2)
    assert "who calls it need change nothing" in page(alice, "models:version", second.pk)
    named = register(alice, run, name="digits-classifier")
    assert f'value="{named.model_id}" selected' in page(alice, "training:register", run.pk), "called like the run"


@pytest.mark.parametrize(
    ("data", "field"), [({"path": "nothing"}, "path"), ({"path": "../x"}, "path"), ({"name": "a b"}, "name")]
)
def test_a_refusal_stands_beside_its_field_and_nothing_is_made(
    alice: Client, run: Run, data: dict[str, str], field: str
) -> None:
    answer = alice.post(reverse("training:register", args=[run.pk]), {"path": "", "name": "digits", **data})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    with acting(platform()):
        assert not Model.objects.exists()


def test_a_run_that_lives_is_not_registered(alice: Client, run: Run) -> None:
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(status=Status.RUNNING, ended_at=None)
    assert "act-register" not in page(alice, "training:detail", run.pk)
    answer = alice.post(f"/api/v1/training/runs/{run.pk}/model/", {"name": "digits"}, content_type="application/json")
    assert (answer.status_code, answer.json()["detail"]) == (409, "It has not ended yet.")


def test_by_api_a_version_is_made_of_what_is_uploaded_and_deleted_again(alice: Client, run: Run) -> None:
    made = alice.post("/api/v1/models/", {"name": "uploaded"}, content_type="application/json").json()
    folder = alice.post(f"/api/v1/models/{made['id']}/draft/").json()["folder"]
    with acting(platform()):
        put(storage.root_of(Folder.objects.get(pk=folder)), "model.onnx", onnx())
    address = f"/api/v1/models/{made['id']}/versions/"
    queued = alice.post(address, {"note": "by hand"}, content_type="application/json")
    assert (queued.status_code, queued.json()["state"]) == (202, "copying")
    work()
    (version,) = alice.get(address).json()["results"]
    assert (version["state"], version["format"], version["came_from"]) == ("ready", "onnx", "upload")
    assert version["signature"]["outputs"] == [{"name": "scores", "datatype": "FP32", "shape": [-1, 10]}]
    zipped = b"".join(alice.get(f"/api/v1/files/model/{version['id']}/zip/"))
    assert zipped.startswith(b"PK")
    assert b"model.onnx" in zipped
    assert alice.delete(f"/api/v1/models/versions/{version['id']}/").status_code == 204
    assert alice.get(address).json()["results"] == []


def test_only_whom_it_is_open_to_sees_it_and_only_its_owner_changes_it(
    alice: Client, bob: Client, charlie: Client, dora: Client, run: Run
) -> None:
    version = register(alice, run)
    address = reverse("models:version", args=[version.pk])
    seen = {who: client.get(address).status_code for who, client in (("bob", bob), ("charlie", charlie))}
    assert seen == {"bob": 404, "charlie": 404}
    assert dora.get(address).status_code == 200  # manages everybody's
    settings = {"name": "digits", "note": "", "open_to_all": "on"}
    alice.post(f"{reverse('models:model', args=[version.model_id])}?tab=settings", settings)
    assert (bob.get(address).status_code, charlie.get(address).status_code) == (200, 404)
    assert bob.post(reverse("models:delete_version", args=[version.pk])).status_code == 403
    assert bob.post(reverse("training:register", args=[run.pk]), {"name": "mine"}).status_code == 404
    assert alice.post(reverse("models:delete_version", args=[version.pk])).status_code == 302
    assert alice.get(address).status_code == 404
