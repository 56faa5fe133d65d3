"""The API of volumes, files and uploads, as programs use it."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage import volumes, working
from apps.storage.models import Volume
from tests.builders import platform, signed_in
from tests.storage.conftest import People
from tests.storage.kit import body, make_volume, put

JSON = "application/json"


@pytest.fixture
def client(people: People) -> Client:
    return signed_in(people.alice)


@pytest.fixture
def volume(alice: Actor) -> Volume:
    volume = make_volume(alice, size_mib=10)
    put(volumes.root_of(volume), "sub/notes.txt", "hello")
    return volume


def files(volume: Volume, name: str = "") -> str:
    return f"/api/v1/files/volume/{volume.pk}/{name}"


def post(client: Client, url: str, **data: Any) -> Any:
    return client.post(url, json.dumps(data), content_type=JSON)


def send(client: Client, upload: str, offset: int, data: bytes) -> Any:
    return client.patch(
        f"/api/v1/uploads/{upload}/",
        data,
        content_type="application/offset+octet-stream",
        headers={"Upload-Offset": str(offset)},
    )


def test_a_volume_lives_through_the_api(client: Client) -> None:
    made = post(client, "/api/v1/volumes/", name="data", size_mib=64)
    assert made.status_code == 201
    url = f"/api/v1/volumes/{made.json()['id']}/"
    changed = client.patch(url, json.dumps({"name": "corpus", "size_mib": 128}), content_type=JSON)
    assert (changed.json()["name"], changed.json()["size_mib"]) == ("corpus", 128)
    assert [row["name"] for row in client.get("/api/v1/volumes/?search=corp").json()["results"]] == ["corpus"]
    assert client.delete(url).status_code == 204
    assert client.get(url).status_code == 404
    assert client.get("/api/v1/volumes/?bin=true").json()["results"][0]["purge_at"]
    assert post(client, f"{url}restore/").status_code == 200
    client.delete(url)
    assert post(client, f"{url}purge/").status_code == 204


def test_bad_input_is_told_beside_its_field(client: Client, volume: Volume) -> None:
    refused = post(client, "/api/v1/volumes/", name="two words", size_mib=1)
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["name"])
    assert post(client, "/api/v1/volumes/", name="work", size_mib=1).json()["code"] == "invalid"
    assert client.get(files(volume) + "?path=../..").status_code == 400
    assert client.get(files(volume) + "?order=colour").status_code == 400
    assert client.get(files(volume) + "?page=x").status_code == 400


def test_a_file_goes_up_in_parts_and_comes_down_whole(client: Client, volume: Volume) -> None:
    data = bytes(range(256)) * 4096  # 1 MiB
    begun = post(client, files(volume, "uploads/"), path="up/data.bin", size=len(data), fingerprint="f")
    assert begun.status_code == 201
    upload = begun.json()["id"]
    assert send(client, upload, 0, data[:600_000]).json()["offset"] == 600_000
    lost = send(client, upload, 0, data[:600_000])
    assert (lost.status_code, lost.json()["code"], lost.json()["fields"]["offset"]) == (409, "wrong_offset", ["600000"])
    assert client.head(f"/api/v1/uploads/{upload}/").headers["Upload-Offset"] == "600000"
    again = post(client, files(volume, "uploads/"), path="up/data.bin", size=len(data), fingerprint="f")
    assert (again.json()["id"], again.json()["offset"]) == (upload, 600_000)
    done = send(client, upload, 600_000, data[600_000:]).json()
    assert (done["done"], done["path"]) == (True, "up/data.bin")
    response = client.get(files(volume, "content/") + "?path=up/data.bin")
    assert body(response) == data
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert client.get(f"/api/v1/uploads/{upload}/").status_code == 404


def test_an_empty_file_is_there_at_once(client: Client, volume: Volume) -> None:
    assert post(client, files(volume, "uploads/"), path="__init__.py", size=0).json()["done"]
    assert client.get(files(volume) + "?search=init").json()["total"] == 1


def test_what_does_not_fit_is_refused_before_a_byte_is_sent(client: Client, volume: Volume) -> None:
    refused = post(client, files(volume, "uploads/"), path="big", size=11 << 20)
    assert (refused.status_code, refused.json()["code"]) == (409, "quota_exceeded")


def test_files_are_made_moved_copied_and_deleted(client: Client, volume: Volume) -> None:
    assert post(client, files(volume, "folders/"), path="", name="new").json() == {"path": "new"}
    assert post(client, files(volume, "folders/"), path="", name="new").status_code == 409
    assert post(client, files(volume, "rename/"), path="sub/notes.txt", name="n.txt").json() == {"path": "sub/n.txt"}
    assert post(client, files(volume, "move/"), paths=["sub/n.txt"], folder="new").json() == {"paths": ["new/n.txt"]}
    job = post(client, files(volume, "copy/"), paths=["new"], folder="sub")
    assert job.status_code == 202
    with acting(platform()):
        working.run_due_jobs()
    assert client.get(f"/api/v1/jobs/{job.json()['id']}/").json()["status"] == "succeeded"
    assert client.get(files(volume) + "?path=sub/new").json()["entries"][0]["name"] == "n.txt"
    assert post(client, files(volume, "delete/"), paths=["new", "sub"]).json() == {"count": 2}
    assert client.get(files(volume)).json()["total"] == 0


def test_text_is_edited_with_its_etag(client: Client, volume: Volume) -> None:
    url = files(volume, "text/") + "?path=sub/notes.txt"
    found = client.get(url).json()
    assert found["text"] == "hello"
    assert client.put(url, json.dumps({**found, "text": "bye"}), content_type=JSON).status_code == 200
    stale = client.put(url, json.dumps({**found, "text": "mine"}), content_type=JSON)
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")


def test_who_may_only_read_changes_nothing(client: Client, people: People, volume: Volume) -> None:
    shared = post(client, f"/api/v1/volumes/{volume.pk}/shares/", user_id=people.bob.pk, right="read")
    assert shared.status_code == 201
    bob = signed_in(people.bob)
    assert client.get(files(volume)).json()["total"] == bob.get(files(volume)).json()["total"] == 1
    for name, data in WRITES.items():
        refused = post(bob, files(volume, f"{name}/"), **data)
        assert refused.status_code == 403, name
    assert bob.delete(f"/api/v1/volumes/{volume.pk}/").status_code == 403
    assert client.delete(f"/api/v1/volumes/{volume.pk}/shares/{people.bob.pk}/").status_code == 204
    assert bob.get(files(volume)).status_code == 404


WRITES: dict[str, dict[str, Any]] = {
    "folders": {"path": "", "name": "x"},
    "rename": {"path": "sub", "name": "x"},
    "move": {"paths": ["sub/notes.txt"], "folder": ""},
    "copy": {"paths": ["sub"], "folder": ""},
    "delete": {"paths": ["sub"]},
    "unpack": {"path": "sub/notes.txt"},
    "uploads": {"path": "x", "size": 1},
}


@pytest.mark.parametrize("trap", ["../x", "/etc/passwd", "a/../../x", "..\\x", "door/x", "a\x00b"])
def test_no_route_leads_out_of_the_volume(client: Client, volume: Volume, trap: str, tmp_path: Any) -> None:
    root = volumes.root_of(volume)
    (root / "door").symlink_to(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    asked: list[Any] = [
        client.get(files(volume, name), {"path": trap}) for name in ("", "folders/", "text/", "content/")
    ]
    asked += [
        post(client, files(volume, "folders/"), path=trap, name="x"),
        post(client, files(volume, "rename/"), path=trap, name="x"),
        post(client, files(volume, "rename/"), path="sub", name=trap),
        post(client, files(volume, "move/"), paths=[trap], folder=""),
        post(client, files(volume, "move/"), paths=["sub"], folder=trap),
        post(client, files(volume, "copy/"), paths=["sub"], folder=trap),
        post(client, files(volume, "unpack/"), path=trap),
        client.put(
            files(volume, "text/") + "?path=" + trap.replace("\x00", "%00"),
            json.dumps({"text": "x", "etag": None}),
            content_type=JSON,
        ),
    ]
    assert {response.status_code for response in asked} <= {400, 404}, [r.status_code for r in asked]
    begun = post(client, files(volume, "uploads/"), path=trap, size=1)
    if begun.status_code == 201:
        assert send(client, begun.json()["id"], 0, b"x").status_code == 404
    assert sorted(path.name for path in tmp_path.iterdir()) == before
