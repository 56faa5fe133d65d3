"""In every order of pushes, deletions, starts and collections: whatever somebody names can be pulled whole."""

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from uuid import UUID

import pytest
from django.conf import LazySettings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import deleting, pushes
from apps.registry.distribution.client import Client as RegistryClient
from apps.registry.models import Image, ImageManifest, ImageRepository, ImageTag
from apps.tenants.models import User
from apps.training.models import Run
from apps.workloads import services as workloads
from apps.workloads.models import Workload
from tests.builders import (
    World,
    actor_of,
    make_image,
    make_node,
    make_organisation,
    make_package,
    make_staff,
    platform,
)
from tests.drivers.registries import digest_of, layer
from tests.registry import serving
from tests.registry.collected import collect
from tests.registry.pushing import Image as Pushed
from tests.registry.pushing import Pusher, image, index
from tests.registry.serving import Site
from tests.registry.test_registry_tokens import Person, person
from tests.searching import run_machine
from tests.training import kit

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not serving.PROGRAM, reason="needs docker-registry"),
]

NAMES, TAGS = ("torch", "jax"), ("1", "2")
IMAGES = 4


def images_of(walk: str) -> list[Pushed]:
    """Of this walk alone, so that no earlier one keeps their layers: three that share some, and an index of two."""
    layers = [layer((f"layer-{number}", f"{walk} {number}".encode())) for number in range(3)]
    one, two, three = image("1", layers[:2]), image("2", layers[1:]), image("3", layers)
    return [one, two, three, index(one, two)]


def blobs_of(what: Pushed) -> list[bytes]:
    return [*what.blobs, *(blob for child in what.children for blob in blobs_of(child))]


class Registry(RuleBasedStateMachine):
    """One person with two repositories. Ends of pushes come at any time after their beginning."""

    site: ClassVar[Site]
    staff: ClassVar[User]

    def __init__(self) -> None:
        super().__init__()
        with acting(platform()):
            self.alice: Person = person(make_organisation(balance_fen=10_000_000), "alice")
            actor = actor_of(self.alice.user, self.alice.organisation)
            self.world = World(
                self.alice.organisation, self.alice.user, actor, make_node(), make_package(), make_image()
            )
        self.images = images_of(self.alice.user.username)
        self.begun: list[tuple[str, int]] = []

    def pusher(self, name: str) -> Pusher:
        return Pusher(self.site, f"{self.alice.mine}/{name}", self.alice.user.username)

    @rule(name=st.sampled_from(NAMES), which=st.integers(0, IMAGES - 1))
    def begin_push(self, name: str, which: int) -> None:
        self.pusher(name).begin(self.images[which])
        self.begun.append((name, which))

    @precondition(lambda self: self.begun)
    @rule(data=st.data(), tag=st.sampled_from(TAGS), after_collection=st.booleans())
    def end_push(self, data: st.DataObject, tag: str, after_collection: bool) -> None:
        if after_collection:
            self.collect()
        name, which = self.begun.pop(data.draw(st.integers(0, len(self.begun) - 1)))
        assert self.pusher(name).end(self.images[which], tag) == 201, "a layer was lost"
        assert self.pusher(name).is_whole(tag)
        tasks.read()

    @rule(data=st.data())
    def delete_a_tag(self, data: st.DataObject) -> None:
        with acting(self.world.actor):
            tags = list(ImageTag.objects.order_by("repository__name", "name").values_list("pk", flat=True))
            if tags:
                deleting.delete_tag(self.world.actor, data.draw(st.sampled_from(tags)))

    @rule(data=st.data(), by_client=st.booleans())
    def delete_a_version(self, data: st.DataObject, by_client: bool) -> None:
        with acting(self.world.actor):
            rows = list(ImageManifest.objects.select_related("repository").order_by("repository__name", "digest"))
            if not rows:
                return
            row = data.draw(st.sampled_from(rows))
            if by_client:
                assert self.pusher(row.repository.name.rpartition("/")[2]).delete(row.digest) in (202, 409)
                return
            with suppress(Conflict):
                deleting.delete_version(self.world.actor, row.repository_id, row.digest)

    @rule(name=st.sampled_from(NAMES))
    def delete_a_repository(self, name: str) -> None:
        with acting(self.world.actor):
            found = ImageRepository.objects.filter(name=f"{self.alice.mine}/{name}").first()
            if found is None:
                return
            try:
                deleting.delete_repository(self.world.actor, found.pk)
            except Conflict:
                assert deleting.uses_of_repository(found)

    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """In any image that was ever on offer: who chose it may have looked at the page long ago."""
        with acting(platform()):
            rows = Image.objects.filter(owner=self.alice.user).exclude(reference="").order_by("reference")
            images: list[UUID] = [row.pk for row in rows]
        if images:
            with suppress(Invalid):
                kit.submit(self.world, image_id=data.draw(st.sampled_from(images)))

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        """Its passport stays."""
        with acting(self.world.actor):
            live = [each.pk for each in Workload.objects.order_by("created_at") if each.is_live]
            if live:
                workloads.stop(self.world.actor, Workload.objects.get(pk=data.draw(st.sampled_from(live))))

    @rule()
    def collect(self) -> None:
        """Days later, as far as pushes go that are not still in progress."""
        awaited = {digest_of(blob) for _name, which in self.begun for blob in blobs_of(self.images[which])}
        for path in (self.site.home / pushes.FOLDER).glob("?" * 64):
            if f"sha256:{path.name}" not in awaited:
                os.utime(path, (0, 0))
        assert collect(self.site, self.staff).problem == ""

    @invariant()
    def whatever_is_named_can_be_pulled_whole(self) -> None:
        with RegistryClient() as client:
            for name in NAMES:
                for tag in client.tags(f"{self.alice.mine}/{name}"):
                    assert self.pusher(name).is_whole(tag), (name, tag)
        with acting(self.world.actor):
            for row in ImageTag.objects.select_related("repository", "manifest"):
                assert self.pusher(row.repository.name.rpartition("/")[2]).is_whole(row.manifest.digest), row.name
            for run in Run.objects.select_related("workload"):
                pinned = run.workload.spec["image"]
                assert self.pusher(pinned["repository"].rpartition("/")[2]).is_whole(pinned["digest"]), run.name


@pytest.mark.hypothesis
def test_what_a_tag_a_run_or_a_passport_names_can_always_be_pulled(tmp_path: Path, settings: LazySettings) -> None:
    with serving.running(tmp_path, settings) as site:
        Registry.site, Registry.staff = site, make_staff()
        run_machine(Registry, count=50, steps=16)
