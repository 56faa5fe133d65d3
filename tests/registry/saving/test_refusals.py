"""What keeps work from getting into the registry: said at once where it can be known, and in a clear word where not."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings

from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import deleting
from apps.registry.distribution.capacity import OverCapacity, capacity_of
from apps.registry.models import Image, ImageRepository, ImageSaving, ImageTag
from apps.registry.saving import layouts as kept
from apps.registry.saving import selectors, services
from apps.registry.saving.words import problem_words
from tests.builders import World, actor_of, make_member, make_world, platform
from tests.drivers.registries import BUSYBOX
from tests.registry import serving
from tests.registry.pushing import FIRST, SECOND, Pusher
from tests.registry.saving import kit
from tests.registry.serving import Site

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None or not serving.PROGRAM, reason="needs busybox-static and docker-registry"),
]


def removed(saving: ImageSaving, home: Path) -> bool:
    """Whether its machine has let go of it, once it is over."""
    with acting(platform()):
        kept.sweep(0)
    return not kit.layouts(home)


def test_a_full_namespace(world: World, box: Image, site: Site, settings: LazySettings, tmp_path: Path) -> None:
    workload = kit.changed(world, box)
    settings.REGISTRY_ORGANISATION_BYTES = 0
    with pytest.raises(OverCapacity):
        kit.ask(world, workload)
    settings.REGISTRY_ORGANISATION_BYTES = 1000
    over = kit.ended(kit.ask(world, workload))
    assert (over.status, over.problem) == ("failed", "over_capacity")
    assert "It adds" in problem_words(over)
    assert removed(over, tmp_path)
    with acting(platform()):
        assert capacity_of(world.organisation.pk).reserved == 0
        assert not ImageTag.objects.exists()


def test_room_is_reserved_while_it_is_sent_and_is_its_own(
    world: World, box: Image, site: Site, settings: LazySettings
) -> None:
    """The registry admits it, although what is reserved for it leaves no room for anything else."""
    workload = kit.changed(world, box)
    probe = kit.ended(kit.ask(world, workload, name="probe"))
    with acting(platform()):
        used = capacity_of(world.organisation.pk).used
    with acting(world.actor):
        deleting.delete_tag(world.actor, ImageTag.objects.get(repository__name=probe.repository_name).pk)
    settings.REGISTRY_ORGANISATION_BYTES = used
    saving = kit.sending(kit.ask(world, workload))
    kit.turn(saving)
    with acting(platform()):
        capacity = capacity_of(world.organisation.pk)
        assert capacity.used + capacity.reserved >= used
        assert capacity.left == 0
    assert kit.ended(saving).status == "succeeded"
    with acting(platform()):
        capacity = capacity_of(world.organisation.pk)
        assert (capacity.used, capacity.reserved) == (used, 0)


def test_a_repository_that_is_deleted_meanwhile_stays_deleted(
    world: World, box: Image, site: Site, tmp_path: Path
) -> None:
    pusher = Pusher(site, kit.repository(world), world.alice.username)
    pusher.push(FIRST, "7")
    tasks.read()
    with acting(platform()):
        repository = ImageRepository.objects.get(name=pusher.name)
    saving = kit.sending(kit.ask(world, kit.changed(world, box)))
    assert saving.tag == "8", "after the highest number"
    with acting(world.actor):
        deleting.delete_repository(world.actor, repository.pk)
    over = kit.ended(saving)
    assert (over.status, over.problem) == ("failed", "repository_gone")
    assert "was deleted" in problem_words(over)
    assert removed(over, tmp_path)
    with acting(platform()):
        assert not ImageRepository.objects.filter(name=pusher.name).exists()


def test_who_may_not_push_any_more(world: World, box: Image, site: Site, tmp_path: Path) -> None:
    saving = kit.sending(kit.ask(world, kit.changed(world, box)))
    with acting(platform()):
        world.alice.memberships.all().delete()
    over = kit.ended(saving)
    assert (over.status, over.problem) == ("failed", "may_not_push")
    assert removed(over, tmp_path)
    with acting(platform()):
        assert not ImageTag.objects.exists()


def test_a_version_is_never_overwritten(world: World, box: Image, site: Site) -> None:
    pusher = Pusher(site, kit.repository(world), world.alice.username)
    pusher.push(FIRST, "v1")
    tasks.read()
    workload = kit.changed(world, box)
    with pytest.raises(Invalid) as refused:
        kit.ask(world, workload, tag="v1")
    assert list(refused.value.fields) == ["tag"]
    saving = kit.sending(kit.ask(world, workload, tag="v2"))
    pusher.push(SECOND, "v2")  # by a client, meanwhile
    over = kit.ended(saving)
    assert (over.status, over.problem) == ("failed", "tag_taken")
    assert pusher.ask("GET", "manifests/v2")[2] == SECOND.manifest


def test_two_clicks_ask_once_and_two_tabs_are_told(world: World, box: Image, site: Site) -> None:
    workload = kit.changed(world, box)
    key = uuid4().hex
    first = kit.ask(world, workload, key=key)
    assert kit.ask(world, workload, key=key).pk == first.pk
    with pytest.raises(Conflict, match="already"):
        kit.ask(world, workload, name="other")
    assert kit.ended(first).status == "succeeded"
    assert kit.ask(world, workload, key=key).pk == first.pk, "also once it is over"
    assert kit.ask(world, workload).tag == "2"


@pytest.mark.parametrize(
    ("field", "asked"), [("tag", {"tag": "no spaces"}), ("name", {"name": "工具"}), ("name", {"name": "a..b"})]
)
def test_what_the_registry_could_not_name(
    world: World, box: Image, site: Site, field: str, asked: dict[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        kit.ask(world, kit.changed(world, box), **asked)
    assert list(refused.value.fields) == [field]


def test_others_may_neither_save_nor_see_nor_cancel_it(world: World, box: Image, site: Site) -> None:
    workload = kit.changed(world, box)
    saving = kit.ask(world, workload)
    with acting(platform()):
        stranger = make_world()
        colleague = actor_of(make_member(world.organisation, "bob"), world.organisation)
    for actor in (stranger.actor, colleague):
        with acting(actor):
            assert not selectors.savings(actor).exists()
            with pytest.raises(NotFound):
                services.cancel(actor, saving.pk)
            with pytest.raises((NotFound, Denied)):
                services.save(actor, workload, services.NewSaving("mine", uuid4().hex))


def test_into_the_organisations_images_only_by_who_manages_them(world: World, box: Image, site: Site) -> None:
    with pytest.raises(Invalid) as refused:
        kit.ask(world, kit.changed(world, box), of_organisation=True)
    assert list(refused.value.fields) == ["of_organisation"]


class TestCancelling:
    def cancel(self, world: World, saving: ImageSaving) -> None:
        with acting(world.actor):
            services.cancel(world.actor, saving.pk)

    def test_before_its_machine_has_begun(self, world: World, box: Image, site: Site, tmp_path: Path) -> None:
        saving = kit.ask(world, kit.changed(world, box))
        self.cancel(world, saving)
        self.cancel(world, saving)  # twice is once
        assert kit.turn(saving).status == "stopped"
        assert not kit.layouts(tmp_path)
        with acting(world.actor), pytest.raises(Conflict, match="ended already"):
            services.cancel(world.actor, saving.pk)

    def test_while_it_is_sent(self, world: World, box: Image, site: Site, tmp_path: Path) -> None:
        """It is there, or it is cancelled: never neither, never both."""
        saving = kit.sending(kit.ask(world, kit.changed(world, box, "dd if=/dev/zero of=/large bs=1M count=60")))
        kit.turn(saving)
        self.cancel(world, saving)
        over = kit.ended(saving)
        with acting(platform()):
            there = ImageTag.objects.filter(repository__name=over.repository_name, name=over.tag).exists()
        assert (over.status, there) in (("stopped", False), ("succeeded", True))
        assert removed(over, tmp_path)

    def test_what_has_arrived_by_then_has_succeeded(self, world: World, box: Image, site: Site) -> None:
        saving = kit.sending(kit.ask(world, kit.changed(world, box)))
        kit.turn(saving)
        kit.wait_for_senders()
        self.cancel(world, saving)
        assert kit.ended(saving).status == "succeeded"
