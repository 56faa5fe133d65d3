"""Asking for a pull, on the page and in the API: who may, what is refused beside which field, what one sees of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry.choices import TransferProblem, TransferStatus
from apps.registry.models import ImageTransfer, PullSources
from apps.registry.transfers import states
from apps.registry.transfers.words import _WORDS, problem_words
from apps.storage.models import Folder
from apps.tenants.choices import PlatformRole, Role
from tests.builders import World, make_member, make_organisation, make_staff, make_world, platform, signed_in

pytestmark = pytest.mark.django_db
NEW, LIST, API = "/images/pulls/new/", "/images/pulls/", "/api/v1/images/pulls/"
ADDRESS = "ghcr.io/team/torch:2.9"


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    settings.PLSTACK_HOME, settings.REGISTRY_HOST, settings.REGISTRY_SOCKET = str(tmp_path), "hub.lab", "/nowhere"
    public = lambda host, *rest, **more: [(2, 1, 6, "", ("93.184.216.34", 443))]  # noqa: E731
    monkeypatch.setattr("socket.getaddrinfo", public)
    with acting(platform()):
        yield make_world()


def rows() -> list[ImageTransfer]:
    with acting(platform()):
        return list(ImageTransfer.objects.all())


def test_the_page_asks_and_leads_to_its_progress(world: World) -> None:
    client = signed_in(world.alice)
    assert "docker.io/library/python:3.12" in client.get(NEW).content.decode()
    answer = client.post(NEW, {"address": ADDRESS, "username": "robot", "password": "pass-word"})
    assert answer.status_code == 302
    transfer = rows()[0]
    assert answer["Location"] == f"{LIST}{transfer.pk}/"
    assert (transfer.repository_name.rpartition("/")[2], transfer.tag) == ("torch", "2.9")
    assert b"pass-word" not in bytes(transfer.credential or b"")
    page = client.get(answer["Location"]).content.decode()
    assert ADDRESS in page
    assert "delay:1500ms" in page
    assert "pass-word" not in page
    again = client.get(f"{NEW}?again={transfer.pk}").content.decode()
    assert ADDRESS in again
    assert "pass-word" not in again


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"address": ""}, "address"),
        ({"address": "python:3.12"}, "address"),
        ({"address": "localhost/a:1"}, "address"),
        ({"address": ADDRESS, "name": "No"}, "name"),
        ({"address": ADDRESS, "tag": "-x"}, "tag"),
        ({"address": ADDRESS, "platform": "plan9/vax"}, "platform"),
        ({"address": ADDRESS, "username": "robot"}, "password"),
        ({"address": ADDRESS, "password": "pass"}, "username"),
        ({"address": ADDRESS, "username": "a:b", "password": "pass"}, "username"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    world: World, given: dict[str, str], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given["address"].startswith("localhost"):
        monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: [(2, 1, 6, "", ("127.0.0.1", 443))])
    client = signed_in(world.alice)
    answer = client.post(NEW, given)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    told = client.post(API, given, content_type="application/json")
    assert told.status_code == 400, told.content
    assert field in told.json()["fields"]
    assert rows() == []


@pytest.mark.parametrize("setting", ["IMAGE_SOURCES", "IMAGE_SOURCES_PRIVATE"])
def test_a_port_is_asked_only_where_the_registry_is_listed_with_it(
    world: World, settings: LazySettings, setting: str
) -> None:
    client, asked = signed_in(world.alice), {"address": "registry.example.edu:5000/team/torch:2.9"}
    refused = client.post(NEW, asked).content.decode()
    assert "list the registry with it: registry.example.edu:5000." in refused
    assert rows() == []
    setattr(settings, setting, ["*", "registry.example.edu:5000"])
    assert client.post(NEW, asked).status_code == 302
    assert len(rows()) == 1


def test_only_who_manages_images_pulls_for_the_organisation(world: World) -> None:
    with acting(platform()):
        admin = signed_in(make_member(world.organisation, "erin", Role.ADMIN))
    given: dict[str, Any] = {"address": ADDRESS, "of_organisation": True}
    assert signed_in(world.alice).post(API, given, content_type="application/json").status_code == 403
    made = admin.post(API, given, content_type="application/json")
    assert made.status_code == 201, made.content
    assert made.json()["repository"].count("/") == 1
    nested = admin.post(API, given | {"name": "a/b"}, content_type="application/json")
    assert "name" in nested.json()["fields"]


def test_colleagues_see_their_own_and_managers_all(world: World) -> None:
    with acting(platform()):
        bob = signed_in(make_member(world.organisation, "bob"))
        admin = signed_in(make_member(world.organisation, "erin", Role.ADMIN))
        charlie = signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))
    made = signed_in(world.alice).post(API, {"address": ADDRESS}, content_type="application/json").json()
    assert made["status"] == "queued"
    for client, status in ((signed_in(world.alice), 200), (admin, 200), (bob, 404), (charlie, 404)):
        assert client.get(f"{API}{made['id']}/").status_code == status
        assert client.get(f"{LIST}{made['id']}/").status_code == status
        assert client.get(f"{LIST}{made['id']}/now/").status_code == status
        assert len(client.get(API).json()["results"]) == (status == 200)
        assert (ADDRESS in client.get(LIST).content.decode()) == (status == 200)
    assert bob.post(f"{API}{made['id']}/cancel/").status_code == 404


def test_cancelled_it_forgets_its_password_and_stays_cancelled(world: World) -> None:
    client = signed_in(world.alice)
    given = {"address": ADDRESS, "username": "robot", "password": "pass"}
    made = client.post(API, given, content_type="application/json").json()
    second = client.post(API, {"address": ADDRESS}, content_type="application/json")
    assert (second.status_code, list(second.json()["fields"])) == (409, ["tag"])
    assert client.post(f"{LIST}{made['id']}/cancel/").status_code == 302
    transfer = rows()[0]
    assert (transfer.status, transfer.credential) == (TransferStatus.STOPPED, None)
    assert client.post(f"{API}{made['id']}/cancel/").status_code == 409
    with acting(platform()):
        assert not states.begin(transfer)
        assert not states.finishing(transfer)
        assert not states.fail(transfer, TransferProblem.GAVE_UP, {"count": 1})
        actions = Entry.objects.filter(action__startswith="image.pull").values_list("action", flat=True)
        assert sorted(actions) == ["image.pull_asked", "image.pull_cancelled"]
    assert client.post(API, {"address": ADDRESS}, content_type="application/json").status_code == 201


def test_what_is_being_finished_is_not_cancelled(world: World) -> None:
    client = signed_in(world.alice)
    made = client.post(API, {"address": ADDRESS}, content_type="application/json").json()
    with acting(platform()):
        states.begin(rows()[0])
        assert states.finishing(rows()[0])
    assert client.post(f"{API}{made['id']}/cancel/").status_code == 409
    assert rows()[0].status == TransferStatus.FINISHING


def test_an_operator_says_from_where_an_organisation_pulls(world: World, settings: LazySettings) -> None:
    settings.IMAGE_SOURCES = ["ghcr.io"]
    client, staff = signed_in(world.alice), signed_in(make_staff())
    page = f"/console/organisations/{world.organisation.pk}/pull-sources/"
    api = f"/api/v1/console{page.removeprefix('/console')}"
    assert client.post(API, {"address": "quay.io/a/b"}, content_type="application/json").status_code == 400
    assert staff.get(api).json() == {"hosts": ["ghcr.io"], "own": False}
    assert "ghcr.io" in staff.get(page).content.decode()
    assert staff.post(page, {"which": "own", "hosts": "quay.io\n*.example.edu"}).status_code == 302
    assert staff.get(api).json() == {"hosts": ["quay.io", "*.example.edu"], "own": True}
    assert client.post(API, {"address": "quay.io/a/b"}, content_type="application/json").status_code == 201
    refused = client.post(NEW, {"address": ADDRESS})
    assert refused.context["form"].errors["address"]
    assert staff.post(page, {"which": "own", "hosts": "https://x"}).status_code == 422
    put = {"content_type": "application/json"}
    assert staff.put(api, {"hosts": []}, **put).json() == {"hosts": [], "own": True}
    assert staff.put(api, {"hosts": None}, **put).json() == {"hosts": ["ghcr.io"], "own": False}
    with acting(platform()):
        assert not PullSources.objects.exists()
        assert Entry.objects.filter(action="registry.sources_set").count() == 3
    finance = signed_in(make_staff(PlatformRole.FINANCE, "finn"))
    assert finance.put(api, {"hosts": []}, **put).status_code == 403


def test_every_problem_has_words(world: World) -> None:
    params = {"host": "h", "status": 1, "reason": "r", "added": 1, "used": 1, "limit": 1, "size": 1, "most_size": 1,
              "count": 1, "most": 1, "hours": 1, "offered": "o", "wanted": "w", "name": "n"}  # fmt: skip
    assert set(_WORDS) == set(TransferProblem)
    for problem in TransferProblem:
        told = problem_words(ImageTransfer(problem=problem, problem_params=params))
        assert told
        assert "%(" not in told
    assert problem_words(ImageTransfer()) == ""


def test_an_upload_is_asked_for_by_page_and_its_page_takes_the_file(world: World) -> None:
    client = signed_in(world.alice)
    assert "docker save" in client.get("/images/uploads/new/").content.decode()
    answer = client.post("/images/uploads/new/", {"name": "torch", "tag": "2.9"})
    assert answer.status_code == 302
    transfer = rows()[0]
    assert (transfer.kind, transfer.status, transfer.tag) == ("archive", TransferStatus.UPLOADING, "2.9")
    page = client.get(answer["Location"]).content.decode()
    assert f'data-fm-api="/api/v1/files/folder/{transfer.archive_id}/"' in page
    assert "torch:2.9" in client.get(LIST).content.decode()
    assert "torch:2.9" not in client.get(f"{LIST}?kind=address").content.decode()
    with acting(platform()):
        admin = signed_in(make_member(world.organisation, "erin", Role.ADMIN))
    assert "data-fm-api" not in admin.get(answer["Location"]).content.decode()
    again = client.get(f"/images/uploads/new/?again={transfer.pk}").content.decode()
    assert 'value="torch"' in again
    assert client.post(f"{LIST}{transfer.pk}/cancel/").status_code == 302
    ended = client.get(answer["Location"]).content.decode()
    assert "data-fm-api" not in ended
    assert "again=" in ended


@pytest.mark.parametrize(
    ("given", "field"),
    [({"name": ""}, "name"), ({"name": "No"}, "name"), ({"name": "a", "tag": "-x"}, "tag"),
     ({"name": "a", "platform": "plan9/vax"}, "platform")],
)  # fmt: skip
def test_what_is_wrong_with_an_upload_stands_beside_its_field(world: World, given: dict[str, str], field: str) -> None:
    client = signed_in(world.alice)
    answer = client.post("/images/uploads/new/", given)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    told = client.post("/api/v1/images/uploads/", given, content_type="application/json")
    assert told.status_code == 400
    assert field in told.json()["fields"]
    assert rows() == []


def test_the_api_says_where_to_upload_to_and_takes_the_choice(world: World) -> None:
    client = signed_in(world.alice)
    made = client.post("/api/v1/images/uploads/", {"name": "torch"}, content_type="application/json")
    assert made.status_code == 201, made.content
    about = made.json()
    assert (about["kind"], about["status"], about["tag"]) == ("archive", "uploading", "latest")
    begun = client.post(
        f"/api/v1/files/folder/{about['folder']}/uploads/",
        {"path": "a.tar", "size": 3},
        content_type="application/json",
    )
    assert begun.status_code == 201, begun.content
    choose = f"{API}{about['id']}/choose/"
    assert client.post(choose, {"image": "a:1"}, content_type="application/json").status_code == 409
    with acting(platform()):
        ImageTransfer.objects.update(status=TransferStatus.RUNNING)
        assert states.ask_which(rows()[0], ["a:1", "b:2"])
    assert "a:1" in client.get(f"{LIST}{about['id']}/").content.decode()
    assert client.get(f"{API}{about['id']}/").json()["offered"] == ["a:1", "b:2"]
    refused = client.post(choose, {"image": "c:3"}, content_type="application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["image"])
    assert client.post(f"{LIST}{about['id']}/choose/", {"image": "c:3"}).status_code == 302
    assert client.post(f"{LIST}{about['id']}/choose/", {"image": "b:2"}).status_code == 302
    assert client.get(f"{API}{about['id']}/").json()["image"] == "b:2"


def test_only_who_may_keep_images_and_files_uploads(world: World, settings: LazySettings) -> None:
    client = signed_in(world.alice)
    settings.REGISTRY_ORGANISATION_BYTES = 0
    full = client.post("/api/v1/images/uploads/", {"name": "torch"}, content_type="application/json")
    assert (full.status_code, full.json()["code"]) == (403, "registry_full")
    settings.REGISTRY_SOCKET = ""
    assert client.post("/api/v1/images/uploads/", {"name": "a"}, content_type="application/json").status_code == 503
    assert "no image registry" in client.get("/images/uploads/new/").content.decode()
    with acting(platform()):
        assert not Folder.objects.exists()


def test_where_an_archive_is_dropped_goes_once_it_has_come(world: World) -> None:
    client = signed_in(world.alice)
    page = client.post("/images/uploads/new/", {"name": "torch", "tag": "1"}).headers["Location"]
    dropped, taken_away = 'id="archive-upload" class', 'id="archive-upload" hx-swap-oob="delete"'
    assert dropped in client.get(page).content.decode()
    assert taken_away not in client.get(f"{page}now/").content.decode()
    with acting(platform()):
        ImageTransfer.objects.update(status=TransferStatus.QUEUED)
    assert "archive-upload" not in client.get(page).content.decode()
    assert taken_away in client.get(f"{page}now/").content.decode()
