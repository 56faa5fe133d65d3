"""Deleting tags, versions and repositories of the real registry: what goes, what stays for whom, who is told why."""

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.models import DeletedManifest, Image, ImageManifest, ImageRepository, ImageTag
from apps.tenants.choices import Role
from tests.builders import (
    World,
    make_member,
    make_organisation,
    platform,
    signed_in,
    submit_workload,
)
from tests.registry import serving
from tests.registry.pushing import FIRST, SECOND, Pusher, api_url, index
from tests.registry.serving import Site
from tests.registry.test_registry_tokens import Person

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not serving.PROGRAM, reason="needs docker-registry"),
]


def test_a_version_goes_with_its_tags_and_leaves_the_others(
    alice: Person, pusher: Pusher, repository: ImageRepository
) -> None:
    client = signed_in(alice.user)
    assert {tag["name"] for tag in client.get(api_url(repository, "tags/")).json()["results"]} == {"1", "2", "latest"}
    versions = client.get(api_url(repository, "versions/")).json()["results"]
    assert {row["digest"]: sorted(row["tags"]) for row in versions} == {
        FIRST.digest: ["1", "latest"],
        SECOND.digest: ["2"],
    }
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 204
    assert (pusher.is_whole("1"), pusher.is_whole(FIRST.digest), pusher.is_whole("2")) == (False, False, True)
    with acting(platform()):
        assert list(ImageTag.objects.values_list("name", flat=True)) == ["2"]
        entry = Entry.objects.get(action="image.version_deleted")
        assert (entry.actor_id, entry.before) == (alice.user.pk, {"tags": ["1", "latest"]})
        assert not Image.objects.filter(active=True, reference__endswith=FIRST.digest).exists()
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 404
    assert client.delete(api_url(repository, "tags/1/")).status_code == 404
    assert client.delete(api_url(repository, "tags/2/")).status_code == 204
    assert client.get(api_url(repository)).status_code == 404


def test_a_repository_goes_with_everything_in_it(alice: Person, pusher: Pusher, repository: ImageRepository) -> None:
    client = signed_in(alice.user)
    question = client.get(f"/images/repositories/{repository.pk}/delete/").content.decode()
    assert f'data-must-equal="{pusher.name}"' in question
    assert client.post(f"/images/repositories/{repository.pk}/delete/").status_code == 302
    assert not any(pusher.is_whole(each) for each in ("1", "2", "latest", FIRST.digest))
    with acting(platform()):
        assert not ImageRepository.objects.exists()
        assert not Image.objects.filter(active=True).exclude(reference="").exists()
        assert Entry.objects.filter(action="image.repository_deleted", actor_id=alice.user.pk).count() == 1


def test_a_client_of_the_registry_deletes_by_the_same_rules(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    with acting(world.actor):
        workload = submit_workload(world, image=pusher.reference())
    status, _place, answer = pusher.ask("DELETE", f"manifests/{FIRST.digest}")
    assert status == 409
    assert workload.name in answer.decode()
    assert pusher.delete(SECOND.digest) == 202
    assert pusher.delete(SECOND.digest) == 404
    assert not pusher.is_whole("2")
    with acting(platform()):
        assert Entry.objects.get(action="image.version_deleted").actor_id == world.alice.pk
        assert DeletedManifest.objects.filter(digest=SECOND.digest).exists()


def test_an_index_goes_with_its_images_and_keeps_them_as_long_as_it_stays(alice: Person, pusher: Pusher) -> None:
    both = index(FIRST, SECOND)
    pusher.push(both, "both")
    pusher.push(SECOND, "second")
    tasks.read()
    with acting(platform()):
        repository = ImageRepository.objects.get()
    client = signed_in(alice.user)
    digests = {row["digest"] for row in client.get(api_url(repository, "versions/")).json()["results"]}
    assert digests == {both.digest, SECOND.digest}
    answer = client.delete(api_url(repository, f"versions/{SECOND.digest}/"))
    assert (answer.status_code, "Index both" in answer.json()["detail"]) == (409, True)
    assert pusher.delete(FIRST.digest) == 409
    assert client.delete(api_url(repository, "tags/both/")).status_code == 204
    assert not pusher.is_whole(FIRST.digest)
    assert pusher.is_whole("second")


def test_colleagues_and_strangers_delete_nothing(alice: Person, pusher: Pusher, repository: ImageRepository) -> None:
    with acting(platform()):
        ImageRepository.objects.update(shared=True)
        bob = signed_in(make_member(alice.organisation, "bob"))
        erin = signed_in(make_member(alice.organisation, "erin", Role.ADMIN))
        charlie = signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))
    assert bob.get(api_url(repository)).status_code == 200
    assert charlie.get(api_url(repository)).status_code == 404
    for client in (bob, charlie):
        for path in ("", f"versions/{FIRST.digest}/", "tags/1/"):
            assert client.delete(api_url(repository, path)).status_code == 404
        for page in ("delete/", f"versions/{FIRST.digest}/delete/"):
            assert client.post(f"/images/repositories/{repository.pk}/{page}").status_code == 404
    assert charlie.get(api_url(repository, "uses/")).status_code == 404
    assert Client().delete(api_url(repository)).status_code == 401
    assert pusher.is_whole("1")
    assert erin.post(f"/images/repositories/{repository.pk}/versions/{FIRST.digest}/delete/").status_code == 302
    assert not pusher.is_whole("1")


def test_while_the_registry_is_away_nothing_is_deleted_here_either(
    site: Site, alice: Person, pusher: Pusher, repository: ImageRepository
) -> None:
    site.server.kill()
    site.server.wait()
    client = signed_in(alice.user)
    for path in ("", f"versions/{FIRST.digest}/", "tags/1/"):
        assert client.delete(api_url(repository, path)).status_code == 503
    with acting(platform()):
        assert ImageTag.objects.count() == 3
        assert ImageManifest.objects.count() == 2
        assert not DeletedManifest.objects.exists()
        assert not Entry.objects.filter(action__contains="deleted").exists()
