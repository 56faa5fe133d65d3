"""What the registry holds, as the platform knows it: told by events or found, deleted where nobody needs it."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import bearer, deleting, pulling
from apps.registry.distribution.bearer import Grant
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.client import Client as RegistryClient
from apps.registry.models import Image, ImageRepository, ImageTag
from apps.workloads.drivers.base import PullRules, Reference
from apps.workloads.drivers.local.oci import pull
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.said import Code
from apps.workloads.start_rights import ImageRequest
from tests.builders import (
    World,
    actor_of,
    make_image,
    make_node,
    make_organisation,
    make_package,
    platform,
    submit_workload,
)
from tests.drivers.registries import ARCHITECTURE, MANIFEST, digest_of, layer
from tests.registry import serving
from tests.registry.serving import Site, ask, login, oci_layout
from tests.registry.test_registry_tokens import Person, person

REFUSAL = re.compile(r"requested access to the resource is denied|unauthorized")

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]


@pytest.fixture
def site(tmp_path: Path, settings: LazySettings) -> Iterator[Site]:
    with serving.running(tmp_path, settings) as found:
        yield found


@pytest.fixture
def alice(site: Site) -> Person:
    with acting(platform()):
        return person(make_organisation(), "alice")


def test_what_was_pushed_is_known_by_whom_and_how_large(site: Site, alice: Person, tmp_path: Path) -> None:
    digest = oci_layout(tmp_path / "image")
    assert site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice)).returncode == 0
    tag = told(lambda: ImageTag.objects.select_related("manifest", "repository").filter(name="1").first())
    assert (tag.manifest.digest, tag.pushed_by_id) == (digest, alice.user.pk)
    assert tag.manifest.platform == f"linux/{ARCHITECTURE}"
    assert tag.repository.owner_id == alice.user.pk
    stored = (site.storage / "blobs").rglob("data")
    assert tag.manifest.size == sum(path.stat().st_size for path in stored)
    with acting(platform()):
        entry = Entry.objects.get(action="image.pushed")
    assert (entry.actor_id, entry.target_label) == (alice.user.pk, f"{alice.mine}/greeting:1")


def told(find: Callable[[], Any]) -> Any:
    """What the registry's events lead to, waited for."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with acting(platform()):
            found = find()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("nobody told of it")


def hear(secret: str, *events: dict[str, Any]) -> int:
    body = json.dumps({"events": events})
    headers = {"authorization": f"Bearer {secret}"}
    return Client().post("/v2/events", body, content_type="application/json", headers=headers).status_code


def event(repository: str, tag: str, digest: str, action: str = "push") -> dict[str, Any]:
    target = {"mediaType": MANIFEST, "repository": repository, "tag": tag, "digest": digest, "size": 1}
    return {"id": "1", "action": action, "target": target, "actor": {"name": "nobody"}}


def rows() -> list[tuple[str, str, str]]:
    with acting(platform()):
        return sorted(ImageTag.objects.values_list("repository__name", "name", "manifest__digest"))


def test_an_event_that_is_repeated_late_or_forged_changes_nothing(site: Site, alice: Person, tmp_path: Path) -> None:
    name = f"{alice.mine}/greeting"
    first = oci_layout(tmp_path / "first")
    second = oci_layout(tmp_path / "second", [layer(("other", b"x"))])
    assert site.push(tmp_path / "first", f"{name}:1", login(alice)).returncode == 0
    told(lambda: rows() == [(name, "1", first)])
    assert site.push(tmp_path / "second", f"{name}:1", login(alice)).returncode == 0
    told(lambda: rows() == [(name, "1", second)])
    assert hear("told-to-both", event(name, "1", first), event(name, "1", first, "delete")) == 200
    assert hear("told-to-both", event(f"{alice.ours}/nothing", "1", first), event("nobody/x", "1", first)) == 200
    assert hear("told-to-both", event("../x", "1", first), {"action": 3}, {"action": "push", "target": 1}) == 200
    assert hear("wrong", event(name, "2", first)) == 401
    assert hear("", event(name, "2", first)) == 401
    assert rows() == [(name, "1", second)]


def test_an_event_that_comes_after_its_repository_was_deleted_makes_none(site: Site, alice: Person) -> None:
    """Also of an image without a tag."""
    for reference in ("1", digest_of(b"")):
        assert hear("told-to-both", event(f"{alice.mine}/greeting", reference, digest_of(b""))) == 200
    with acting(platform()):
        assert not ImageRepository.objects.exists()


def test_what_no_event_told_of_is_found(site: Site, alice: Person, tmp_path: Path) -> None:
    name = f"{alice.mine}/greeting"
    digest = oci_layout(tmp_path / "image")
    assert site.push(tmp_path / "image", f"{name}:1", login(alice)).returncode == 0
    told(lambda: rows() == [(name, "1", digest)])
    with acting(platform()):
        ImageRepository.objects.all().delete()
        assert capacity_of(alice.organisation.pk).used == 0
    tasks.read()
    assert rows() == [(name, "1", digest)]
    with acting(platform()):
        assert capacity_of(alice.organisation.pk).used > 0
    tasks.read()
    assert rows() == [(name, "1", digest)]
    gone = bearer.for_platform(Grant(name, frozenset({"delete", "pull"})))
    assert ask(site, "DELETE", f"/v2/{name}/manifests/{digest}", gone)[0] == 202
    told(lambda: rows() == [])


def test_what_is_pushed_while_tags_are_read_is_not_taken_for_deleted(
    site: Site, alice: Person, two_tags: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes down what is newer than the list of tags before it has been acted upon."""
    name, digest = two_tags
    asked = RegistryClient.tags
    another = connection.copy()

    def tags(client: RegistryClient, repository: str) -> list[str]:
        with another.cursor() as cursor, pytest.raises(OperationalError, match="could not obtain lock"):
            cursor.execute("SELECT 1 FROM registry_imagerepository WHERE name = %s FOR UPDATE NOWAIT", [repository])
        return asked(client, repository)

    monkeypatch.setattr(RegistryClient, "tags", tags)
    try:
        tasks.read()
    finally:
        another.close()
    assert rows() == [(name, "1", digest), (name, "2", digest)]


def test_while_the_registry_cannot_be_read_events_are_sent_again(site: Site, alice: Person) -> None:
    site.server.kill()
    site.server.wait()
    assert hear("told-to-both", event(f"{alice.mine}/greeting", "1", digest_of(b""))) == 503


def test_a_machine_pulls_with_the_token_of_its_run_and_not_without(site: Site, alice: Person, tmp_path: Path) -> None:
    name = f"{alice.mine}/greeting"
    digest = oci_layout(tmp_path / "image")
    assert site.push(tmp_path / "image", f"{name}:1", login(alice)).returncode == 0
    image, rules = Reference(f"{site.host}/{name}", digest), PullRules(plain_http=(site.host,))
    (tmp_path / "machine").mkdir()
    for token in ("", bearer.issue("alice", [Grant(f"{name}2", frozenset({"pull"}))])):
        job = pull.Job(image, tmp_path / "machine", rules, bearer=token)
        with pytest.raises(pull.PullFailed) as failure:
            pull.Pull(job, lambda *_: None).run()
        assert failure.value.said.code is Code.REGISTRY_REFUSES
    request = ImageRequest(uuid4(), alice.organisation.pk, alice.user.pk, frozenset(), image)
    job = pull.Job(image, tmp_path / "machine", rules, bearer=pulling.credential(request))
    pull.Pull(job, lambda *_: None).run()
    assert (Store(tmp_path / "machine").tree(image) / "greeting").read_text() == "hello\n"


@pytest.fixture
def two_tags(site: Site, alice: Person, tmp_path: Path) -> tuple[str, str]:
    """A repository with one image under two tags, and its digest."""
    name = f"{alice.mine}/greeting"
    digest = oci_layout(tmp_path / "image")
    for tag in ("1", "2"):
        assert site.push(tmp_path / "image", f"{name}:{tag}", login(alice)).returncode == 0
    told(lambda: rows() == [(name, "1", digest), (name, "2", digest)])
    return name, digest


def delete(alice: Person, tag: str) -> None:
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        deleting.delete_tag(actor, ImageTag.objects.get(name=tag).pk)


def is_there(name: str, reference: str) -> bool:
    with RegistryClient() as client:
        return client.manifest(name, reference) is not None


def test_a_deleted_tag_takes_the_image_with_it_only_as_the_last(alice: Person, two_tags: tuple[str, str]) -> None:
    name, digest = two_tags
    delete(alice, "1")
    assert (is_there(name, "1"), is_there(name, "2"), is_there(name, digest)) == (False, True, True)
    assert rows() == [(name, "2", digest)]
    delete(alice, "2")
    assert (is_there(name, "2"), is_there(name, digest)) == (False, False)
    with acting(platform()):
        assert Entry.objects.filter(action="image.tag_deleted", actor_id=alice.user.pk).count() == 2
        assert not Image.objects.filter(active=True).exclude(reference="").exists()


def test_an_image_that_work_runs_in_stays_whoever_deletes_what(
    site: Site, alice: Person, two_tags: tuple[str, str]
) -> None:
    name, digest = two_tags
    with acting(platform()):
        world = World(alice.organisation, alice.user, actor_of(alice.user, alice.organisation), make_node(),
                      make_package(), make_image())  # fmt: skip
    with acting(world.actor):
        submit_workload(world, image=Reference(f"{site.host}/{name}", digest))
    granted = bearer.issue("alice", [Grant(name, frozenset({"pull", "delete"}))])
    status, answer = ask(site, "DELETE", f"/v2/{name}/manifests/{digest}", granted)
    assert status == 409, answer
    assert json.loads(answer)["errors"][0]["code"] == "DENIED"
    assert ask(site, "DELETE", f"/v2/{name}/blobs/{digest}", granted)[0] == 405
    delete(alice, "1")
    delete(alice, "2")
    assert rows() == []
    assert is_there(name, digest)
    assert not is_there(name, "2")
