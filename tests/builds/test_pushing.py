"""What is built goes into the registry as a version of its owner's, and starts from there anywhere."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.audit.models import Entry
from apps.builds.models import Build
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.registry.distribution import bearer, names
from apps.registry.distribution.bearer import Grant
from apps.registry.distribution.capacity import OverCapacity
from apps.registry.models import Image, ImageTag
from apps.registry.saving import layouts
from apps.workloads.nodes import local_driver
from tests.builders import World, actor_of, make_member, platform
from tests.builds.kit import build
from tests.builds.machine import ended, log_of, nothing_held, said_in, turn
from tests.drivers.registries import BUSYBOX
from tests.registry import serving
from tests.registry.pushing import FIRST, Pusher
from tests.registry.serving import Site
from tests.workloads.loops import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None or not serving.PROGRAM, reason="needs busybox-static and docker-registry"),
]


@pytest.fixture
def site(tmp_path: Path, settings: LazySettings, box: Image) -> Iterator[Site]:
    """The platform's registry, which is another one than the base's."""
    with serving.running(tmp_path, settings) as found:
        rules = settings.IMAGE_PULL_RULES
        settings.IMAGE_PULL_RULES = replace(rules, plain_http=(*rules.plain_http, found.host))
        yield found


def repository(world: World) -> str:
    return f"{names.organisation_part(world.organisation)}/{names.person_part(world.alice)}/tools"


def pusher(site: Site, world: World) -> Pusher:
    return Pusher(site, repository(world), world.alice.username)


def test_what_is_built_is_a_version_in_the_registry_and_starts_from_there(
    world: World, box: Image, site: Site, alice: Client, tmp_path: Path
) -> None:
    made = ended(build(world, "FROM box\nRUN echo 1 > /one\nENV A=b\n", tag="v1.0"))
    assert made.workload.status == "succeeded", log_of(made.workload)
    assert made.image is not None
    assert made.image.reference.startswith(f"{site.host}/{repository(world)}@sha256:")
    assert pusher(site, world).is_whole("v1.0")
    with acting(platform()):
        layouts.sweep(0)
    assert not list((tmp_path / "saved").glob("?" * 64)), "its machine keeps no copy"
    shutil.rmtree(tmp_path / "images")  # as on a node that has never seen it
    assert "1\n" in said_in(world, made.image, "cat", "/one")
    with acting(platform()):
        tag = ImageTag.objects.get(repository__name=repository(world))
        assert (tag.name, tag.pushed_by) == ("v1.0", world.alice)
        assert Entry.objects.filter(action="image.pushed", actor_id=world.alice.pk).exists()
    assert nothing_held(made)
    told = alice.get(f"/api/v1/builds/{made.pk}/").json()
    assert (told["tag"], told["repository"], told["sending"]) == ("v1.0", repository(world), None)
    assert "tools:v1.0" in alice.get(f"/builds/{made.pk}/").content.decode()


@pytest.mark.skipif(not serving.SKOPEO, reason="needs skopeo")
def test_other_clients_read_what_was_pushed(world: World, box: Image, site: Site) -> None:
    made = ended(build(world, 'FROM box\nRUN echo 1 > /one\nLABEL maker=lab\nCMD ["cat", "/one"]\n', tag="v1"))
    assert made.image is not None
    token = bearer.issue(world.alice.username, [Grant(repository(world), frozenset({"pull"}))])
    where = f"docker://{site.host}/{repository(world)}:v1"
    said = site.skopeo("inspect", "--tls-verify=false", "--registry-token", token, where)
    about = json.loads(said.stdout)
    assert about["Digest"] == made.image.reference.partition("@")[2]
    assert about["Labels"] == {"maker": "lab"}
    assert len(about["Layers"]) == 3


def test_what_the_registry_has_is_not_sent_again(world: World, box: Image, site: Site) -> None:
    first = ended(build(world, "FROM box\nRUN echo 1 > /one\n"))
    assert first.image is not None
    layers = set((site.storage / "blobs" / "sha256").glob("*/*"))
    with acting(platform()):
        assert first.tag == "1"
    second = ended(build(world, f"FROM {first.image.reference}\nRUN echo 2 > /two\n"))
    assert second.image is not None
    assert (second.tag, second.image.reference.partition("@")[0]) == ("2", first.image.reference.partition("@")[0])
    assert "1\n2\n" in said_in(world, second.image, "cat", "/one", "/two")
    added = set((site.storage / "blobs" / "sha256").glob("*/*")) - layers
    assert len(added) == 3, "its layer, its configuration, its manifest"


def test_a_version_is_never_overwritten(world: World, box: Image, site: Site) -> None:
    ended(build(world, "FROM box\nRUN echo 1 > /one\n", tag="v1"))
    with pytest.raises(Invalid) as refused:
        build(world, "FROM box\nRUN echo 2 > /one\n", tag="v1")
    assert "tag" in refused.value.fields
    waiting = build(world, "FROM box\nRUN echo 2 > /one\n", tag="v2")
    with pytest.raises(Invalid):  # nor is one that is being built
        build(world, "FROM box\nRUN echo 3 > /one\n", tag="v2")
    pusher(site, world).push(FIRST, "v2")  # by a client, meanwhile
    over = ended(waiting)
    assert (over.workload.status, over.image) == ("failed", None)
    assert "not overwritten" in str(over.problem)
    assert pusher(site, world).ask("GET", "manifests/v2")[2] == FIRST.manifest


@pytest.mark.parametrize(
    ("field", "asked"),
    [("tag", {"tag": "no spaces"}), ("tag", {"tag": "-x"}), ("name", {"name": "工具"}), ("name", {"name": "a..b"})],
)
def test_what_the_registry_could_not_name_is_refused(
    world: World, site: Site, field: str, asked: dict[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        build(world, "FROM box\nRUN true\n", **asked)
    assert list(refused.value.fields) == [field]


def test_into_the_organisations_images_only_by_who_manages_them(world: World, box: Image, site: Site) -> None:
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with pytest.raises(Invalid) as refused:
        build(world, "FROM box\nRUN true\n", actor=bob, for_organisation=True)
    assert list(refused.value.fields) == ["for_organisation"]


def test_without_room_in_the_registry_nothing_is_built(
    world: World, box: Image, site: Site, settings: LazySettings
) -> None:
    settings.REGISTRY_ORGANISATION_BYTES = 0
    with pytest.raises(OverCapacity):
        build(world, "FROM box\nRUN true\n")


def test_an_image_that_has_no_room_is_refused_in_words(
    world: World, box: Image, site: Site, settings: LazySettings, alice: Client
) -> None:
    settings.REGISTRY_ORGANISATION_BYTES = 1000
    made = ended(build(world, "FROM box\nRUN echo 1 > /one\n"))
    assert (made.workload.status, made.image) == ("failed", None)
    page = alice.get(f"/builds/{made.pk}/").content.decode()
    assert "could not be saved" in page
    assert "This image adds" in page
    assert nothing_held(made)


def test_who_may_not_push_any_more_pushes_nothing(world: World, box: Image, site: Site) -> None:
    made = build(world, "FROM box\nRUN echo 1 > /one; sleep 1\n")
    with acting(platform()):
        until(made.workload, lambda workload: workload.status == "running", 60)
        world.alice.memberships.all().delete()
        until(made.workload, lambda _workload: turn(made), 60)
        assert not ImageTag.objects.exists()
        assert Build.objects.get(pk=made.pk).image is None


def test_a_sender_that_is_killed_is_made_good(world: World, box: Image, site: Site, tmp_path: Path) -> None:
    """Its state says neither done nor failed, and nobody holds its lock: the next turn begins anew."""
    made = build(world, "FROM box\nRUN dd if=/dev/zero of=/large bs=1M count=40\n")
    with acting(platform()):
        until(made.workload, lambda _workload: turn(made) or any((tmp_path / "saved").glob("*.push/lock")), 60)
    assert local_driver() is not None
    over = ended(made)
    assert over.image is not None
    assert pusher(site, world).is_whole("1")
