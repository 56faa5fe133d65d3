"""Pages of the registry: what one sees there, what colleagues see, and what strangers do not."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.scoping import acting
from apps.registry import selectors as images
from apps.registry.distribution import offering
from apps.registry.models import Image, ImageManifest, ImageRepository, ImageTag
from apps.tenants.choices import Role
from apps.workloads.references import Reference
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_world,
    platform,
    signed_in,
    submit_workload,
)

pytestmark = pytest.mark.django_db

DIGEST = "sha256:" + "a" * 64
LIST = "/images/repositories/"


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME, settings.REGISTRY_HOST, settings.REGISTRY_SOCKET = str(tmp_path), "hub.lab", "/nowhere"
    with acting(platform()):
        return make_world()


def keep(
    world: World, name: str, *, owned: bool = True, shared: bool = False, of_platform: str = "linux/amd64"
) -> ImageTag:
    with acting(platform()):
        owner = world.alice if owned else None
        row = ImageRepository.objects.create(organisation=world.organisation, owner=owner, name=name, shared=shared)
        manifest = ImageManifest.objects.create(
            organisation=world.organisation,
            repository=row,
            digest=DIGEST,
            media_type="",
            size=5,
            platform=of_platform,
        )
        tag = ImageTag.objects.create(
            organisation=world.organisation, repository=row, manifest=manifest, name="1", pushed_by=world.alice
        )
        offering.offer(tag)
        return tag


def listed(client: Client, **query: str) -> list[str]:
    return [row.record.name for row in client.get(LIST, query).context["table"].page.object_list]


def test_an_empty_list_says_how_to_begin(world: World) -> None:
    page = signed_in(world.alice).get(LIST).content.decode()
    assert f"docker login hub.lab -u {world.alice.username}" in page
    assert f"docker push hub.lab/{world.organisation.slug}/{world.alice.username}/my-image:1" in page


def test_without_a_registry_the_page_says_so(world: World, settings: LazySettings) -> None:
    settings.REGISTRY_SOCKET = ""
    page = signed_in(world.alice).get(LIST).content.decode()
    assert "PLSTACK_REGISTRY_URL" in page
    assert "docker push" not in page


def test_the_list_has_ones_own_the_organisations_and_what_is_shared(world: World) -> None:
    for name, options in (("lab/alice/a", {}), ("lab/alice/b", {"shared": True}), ("lab/c", {"owned": False})):
        keep(world, name, **options)  # type: ignore[arg-type]
    with acting(platform()):
        bob = signed_in(make_member(world.organisation, "bob"))
        admin = signed_in(make_member(world.organisation, "erin", Role.ADMIN))
        charlie = signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))
    assert sorted(listed(signed_in(world.alice))) == ["lab/alice/a", "lab/alice/b", "lab/c"]
    assert sorted(listed(bob)) == ["lab/alice/b", "lab/c"]
    assert len(listed(admin)) == 3
    assert listed(charlie) == []
    assert listed(signed_in(world.alice), q="alice/B") == ["lab/alice/b"]
    assert listed(signed_in(world.alice), whose="organisation") == ["lab/c"]


def test_the_page_of_a_repository_names_tags_digests_and_who_uses_it(world: World) -> None:
    tag = keep(world, "lab/alice/torch")
    with acting(world.actor):
        workload = submit_workload(world, image=Reference("hub.lab/lab/alice/torch", DIGEST))
    page = signed_in(world.alice).get(f"{LIST}{tag.repository_id}/")
    for text in (DIGEST, "linux/amd64", "docker pull hub.lab/lab/alice/torch:1", workload.name):
        assert text in page.content.decode()


def test_a_colleague_sees_a_private_repository_as_none(world: World) -> None:
    tag = keep(world, "lab/alice/torch")
    with acting(platform()):
        bob = signed_in(make_member(world.organisation, "bob"))
    assert bob.get(f"{LIST}{tag.repository_id}/").status_code == 404
    assert bob.get(f"/images/tags/{tag.pk}/delete/").status_code == 404
    assert bob.post(f"{LIST}{tag.repository_id}/share/", {"shared": "1"}).status_code == 404


def test_a_pushed_image_is_chosen_by_its_owner_and_once_shared_by_colleagues(world: World) -> None:
    tag = keep(world, "lab/alice/torch")
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        other = make_organisation()
        charlie = actor_of(make_member(other, "charlie"), other)

    def chosen(actor: object) -> list[str]:
        with acting(actor):  # type: ignore[arg-type]
            rows = images.images(actor, containers=True)  # type: ignore[arg-type]
            return [row.reference for row in rows if row.reference]

    assert chosen(world.actor) == [f"hub.lab/lab/alice/torch@{DIGEST}"]
    assert chosen(bob) == chosen(charlie) == []
    assert signed_in(world.alice).post(f"{LIST}{tag.repository_id}/share/", {"shared": "1"}).status_code == 302
    assert chosen(bob) == [f"hub.lab/lab/alice/torch@{DIGEST}"]
    assert chosen(charlie) == []
    signed_in(world.alice).post(f"{LIST}{tag.repository_id}/share/", {"shared": "0"})
    assert chosen(bob) == []


def test_what_is_no_image_is_not_offered(world: World) -> None:
    keep(world, "lab/alice/chart", of_platform="")
    assert not Image.objects.filter(active=True).exclude(reference="").exists()


def test_a_pushed_image_is_changed_on_its_repositorys_page_alone(world: World) -> None:
    keep(world, "lab/alice/torch")
    image = Image.objects.exclude(reference="").get()
    alice = signed_in(world.alice)
    assert alice.post(f"/images/{image.pk}/share/", {"shared": "1"}).status_code == 404
    assert alice.post(f"/images/{image.pk}/remove/").status_code == 404
