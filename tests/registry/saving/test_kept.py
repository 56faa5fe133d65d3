"""Images that were saved while there was no registry get into it, and stay what they are for who uses them."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.errors import Conflict, NotFound
from apps.common.scoping import acting
from apps.registry import services as registry
from apps.registry.distribution.client import RegistryAway
from apps.registry.models import Image, ImageSaving, ImageTag
from apps.registry.saving import layouts, selectors, services
from apps.registry.saving.services import NewSaving
from apps.workloads import reach
from tests.builders import World, actor_of, make_member, platform
from tests.builds.machine import said_in
from tests.drivers.registries import BUSYBOX
from tests.registry import serving
from tests.registry.pushing import Pusher
from tests.registry.saving import kit
from tests.registry.serving import Site

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None or not serving.PROGRAM, reason="needs busybox-static and docker-registry"),
]


def kept(world: World, box: Image, name: str = "My tools", script: str = "echo 1 > /one") -> Image:
    """As environments are saved where there is no registry."""
    workload = kit.changed(world, box, script)
    with acting(world.actor):
        reference = reach.save_image(world.actor, workload)
        return registry.create_container_image(world.actor, name=name, base=box, reference=reference)


def send(world: World, image: Image, **changes: str) -> ImageSaving:
    with acting(world.actor):
        return services.send(world.actor, image, NewSaving(**{"name": kit.REPOSITORY, "key": uuid4().hex, **changes}))


def test_it_gets_there_and_starts_from_there_while_the_old_one_goes_on(world: World, box: Image, site: Site) -> None:
    image = kept(world, box)
    saving = kit.ended(send(world, image, tag="7"))
    assert (saving.status, saving.tag, saving.digest) == ("succeeded", "7", image.reference.partition("@")[2])
    assert Pusher(site, kit.repository(world), world.alice.username).is_whole("7")
    with acting(platform()):
        tag = ImageTag.objects.get(repository__name=saving.repository_name, name="7")
        pushed = Image.objects.get(key=f"pushed-{tag.pk.hex}")
        assert Image.objects.get(pk=image.pk).active
        assert layouts.sweep(0) == 0, "what its row names stays on its machine"
    assert "1\n" in said_in(world, pushed, "cat", "/one")
    assert "1\n" in said_in(world, image, "cat", "/one")


def test_all_go_under_their_own_names(world: World, box: Image, site: Site) -> None:
    kept(world, box, "My tools")
    kept(world, box, "other:3", "echo 2 > /two")
    with acting(world.actor):
        sent, refused = services.send_all(world.actor)
        assert (sorted(each.repository_name.rpartition("/")[2] for each in sent), refused) == (
            ["my-tools", "other"],
            {},
        )
        assert {each.tag for each in sent} == {"1", "3"}
        assert not selectors.left_to_send(world.actor).exists()
    assert {kit.ended(each).status for each in sent} == {"succeeded"}
    with acting(world.actor):
        assert services.send_all(world.actor) == ([], {})


def test_cancelled_it_can_be_sent_again(world: World, box: Image, site: Site) -> None:
    image = kept(world, box)
    saving = send(world, image)
    with acting(world.actor):
        services.cancel(world.actor, saving.pk)
    assert kit.ended(saving).status == "stopped"
    with acting(world.actor):
        assert list(selectors.left_to_send(world.actor)) == [image]
    assert kit.ended(send(world, image)).status == "succeeded"


def test_while_the_registry_is_away_it_waits_and_then_goes_on(world: World, box: Image, site: Site) -> None:
    saving = send(world, kept(world, box))
    kit.stop_registry(site)
    assert kit.turn(saving).waits_since is not None
    kit.start_registry(site)
    assert kit.ended(saving).status == "succeeded"


def test_what_its_machine_has_lost_is_said_at_once(world: World, box: Image, site: Site, tmp_path: Path) -> None:
    image = kept(world, box)
    (layout,) = (tmp_path / "saved").glob("?" * 64)
    layout.rename(tmp_path / "gone")
    with pytest.raises(Conflict, match="No machine keeps the files"):
        send(world, image)
    with acting(platform()):
        assert not ImageSaving.objects.exists()


def test_only_its_owner_sends_it_once_and_only_into_a_registry(
    world: World, box: Image, site: Site, settings: LazySettings
) -> None:
    image = kept(world, box)
    with acting(platform()):
        bea = actor_of(make_member(world.organisation, "bea"), world.organisation)
    with acting(bea), pytest.raises(NotFound):
        services.send(bea, image, NewSaving("mine", uuid4().hex))
    with pytest.raises(NotFound):
        send(world, box)
    send(world, image)
    with pytest.raises(Conflict, match="on its way"):
        send(world, image, name="elsewhere")
    settings.REGISTRY_SOCKET = ""
    with pytest.raises(RegistryAway):
        send(world, image, name="elsewhere")


def test_pages_and_api(world: World, box: Image, site: Site, alice: Client) -> None:
    image = kept(world, box)
    assert "Put it into the registry…" in alice.get(f"/images/{image.pk}/").content.decode()
    assert "1 image of yours is on its machine alone" in alice.get("/images/savings/").content.decode()
    assert "Put My tools into the registry?" in alice.get(f"/images/{image.pk}/registry/").content.decode()
    refused = alice.post(f"/images/{image.pk}/registry/", {"name": "NO NAME", "key": uuid4().hex})
    assert (refused.status_code, "small letters" in refused.content.decode()) == (422, True)
    listed = alice.get("/api/v1/images/savings/kept/").json()["results"]
    assert [each["id"] for each in listed] == [str(image.pk)]
    told = alice.post(f"/api/v1/images/savings/kept/{image.pk}/", {"name": "mine"}, "application/json")
    assert (told.status_code, told.json()["kept_image"], told.json()["workload"]) == (202, str(image.pk), None)
    with acting(platform()):
        saving = ImageSaving.objects.get()
    assert kit.ended(saving).status == "succeeded"
    shown = alice.get(f"/images/{image.pk}/").content.decode()
    assert str(saving) in shown
    assert "My tools" in alice.get("/images/savings/?q=tools").content.decode()
    assert alice.post("/images/savings/all/").status_code == 302
