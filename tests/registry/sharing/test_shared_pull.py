"""The real registry and a real client: a receiver pulls what is shared with them, and does nothing else with it."""

import json
from pathlib import Path

import pytest

from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.models import Image, ImageRepository, RepositoryShare
from apps.registry.sharing import services
from apps.registry.sharing.services import NewShare
from apps.tenants.choices import Role
from tests.builders import actor_of, make_organisation, platform, signed_in
from tests.registry import serving
from tests.registry.pushing import FIRST, SHARED, Pusher, api_url
from tests.registry.serving import Site, ask, login, oci_layout
from tests.registry.sharing import kit
from tests.registry.test_registry_tokens import Person, person

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]


@pytest.fixture
def rita(site: Site) -> Person:
    """Who manages the images of the organisation that receives."""
    kit.allow()
    with acting(platform()):
        return person(make_organisation(), "rita", Role.ADMIN)


@pytest.fixture
def share(alice: Person, rita: Person, repository: ImageRepository) -> RepositoryShare:
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        return services.share(actor, repository.pk, NewShare(rita.organisation.slug))


def take_back(alice: Person, share: RepositoryShare) -> None:
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        services.take_back(actor, share.repository_id, share.pk)


def token(whose: Person, *scopes: str) -> str:
    answer = whose.ask(*scopes).json()
    return str(answer["token"])


def test_it_is_copied_by_skopeo_until_it_is_taken_back(
    site: Site, alice: Person, rita: Person, repository: ImageRepository, share: RepositoryShare, tmp_path: Path
) -> None:
    copied = site.pull(f"{repository.name}:1", tmp_path / "copied", login(rita))
    assert copied.returncode == 0, copied.stderr
    index = json.loads((tmp_path / "copied" / "index.json").read_text())
    assert index["manifests"][0]["digest"] == FIRST.digest
    tls = ["--tls-verify=false", "--creds", login(rita)]
    listed = site.skopeo("list-tags", *tls, f"docker://{site.host}/{repository.name}")
    assert sorted(json.loads(listed.stdout)["Tags"]) == ["1", "2", "latest"]
    take_back(alice, share)
    assert site.pull(f"{repository.name}:1", tmp_path / "after", login(rita)).returncode
    assert site.skopeo("list-tags", *tls, f"docker://{site.host}/{repository.name}").returncode


def test_it_is_not_pushed_to_retagged_or_deleted(
    site: Site, rita: Person, pusher: Pusher, repository: ImageRepository, share: RepositoryShare, tmp_path: Path
) -> None:
    oci_layout(tmp_path / "image")
    assert site.push(tmp_path / "image", f"{repository.name}:mine", login(rita)).returncode
    everything = token(rita, f"repository:{repository.name}:pull,push,delete")
    path = f"/v2/{repository.name}/manifests"
    assert ask(site, "GET", f"{path}/1", everything)[0] == 200
    assert ask(site, "PUT", f"{path}/mine", everything, FIRST.manifest)[0] == 401
    assert ask(site, "DELETE", f"{path}/{FIRST.digest}", everything)[0] == 401
    client = signed_in(rita.user)
    assert client.delete(api_url(repository, "tags/1/")).status_code == 404
    assert pusher.is_whole("1")


def test_its_layers_are_mounted_by_the_same_right(
    site: Site, alice: Person, rita: Person, repository: ImageRepository, share: RepositoryShare
) -> None:
    mine = f"{rita.mine}/copy"
    wanted = (f"repository:{mine}:pull,push", f"repository:{repository.name}:pull")
    path = f"/v2/{mine}/blobs/uploads/?mount={serving.digest_of(SHARED)}&from={repository.name}"
    assert ask(site, "POST", path, token(rita, *wanted), b"")[0] == 201
    take_back(alice, share)
    other = f"/v2/{rita.mine}/other/blobs/uploads/?mount={serving.digest_of(SHARED)}&from={repository.name}"
    wanted = (f"repository:{rita.mine}/other:pull,push", f"repository:{repository.name}:pull")
    assert ask(site, "POST", other, token(rita, *wanted), b"")[0] != 201


def test_a_tag_that_moves_moves_for_the_receiver_and_a_deleted_repository_is_gone(
    site: Site, alice: Person, rita: Person, pusher: Pusher, repository: ImageRepository, share: RepositoryShare
) -> None:
    client = signed_in(rita.user)
    pusher.push(FIRST, "2")
    tasks.read()
    tags = client.get(api_url(repository, "tags/")).json()["results"]
    assert {each["name"]: each["digest"] for each in tags}["2"] == FIRST.digest
    with acting(platform()):
        assert Image.objects.filter(active=True, repository=repository, reference__endswith=FIRST.digest).count() == 3
    assert signed_in(alice.user).delete(api_url(repository)).status_code == 204
    assert client.get(api_url(repository)).status_code == 404
    assert not RepositoryShare.objects.exists()


def test_it_is_downloaded_as_a_file(rita: Person, repository: ImageRepository, share: RepositoryShare) -> None:
    answer = signed_in(rita.user).get(api_url(repository, "tags/1/file/"))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-tar"
    answer.close()
