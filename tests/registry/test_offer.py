"""Which images of the platform are on offer, to whom, and whose word counts at the next start."""

from dataclasses import replace

import pytest

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.registry import ruling, selectors, services
from apps.registry.models import Image
from apps.registry.platform_images import ensure_platform_images
from apps.registry.recipes.catalogue import RUNTIMES
from apps.tenants.choices import PlatformRole
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    make_world,
    platform,
    staff_actor,
)

SPEC = ruling.ImageSpec("Audio", "Sound, in and out", "声音", ("soundfile==0.13.1",), sort=40)


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def staff(world: World) -> Actor:
    with acting(platform()):
        return staff_actor(make_staff(PlatformRole.SUPER))


def add(staff: Actor, spec: ruling.ImageSpec) -> Image:
    with acting(staff):
        return ruling.create(staff, spec)


def change(staff: Actor, image: Image, spec: ruling.ImageSpec) -> None:
    with acting(staff):
        ruling.update(staff, image.pk, spec)


def shipped() -> Image:
    image: Image = Image.objects.get(key=RUNTIMES[0].key)
    return image


def test_a_new_version_renews_what_nobody_edited(world: World) -> None:
    ensure_platform_images()
    Image.objects.filter(pk=shipped().pk).update(requirements=["numpy==1.0"], name="of an older version")
    ensure_platform_images()
    assert (shipped().name, shipped().requirements) == (RUNTIMES[0].name, list(RUNTIMES[0].requirements))


def test_what_administrators_edited_stays_theirs(staff: Actor) -> None:
    ensure_platform_images()
    change(staff, shipped(), replace(SPEC, active=False))
    ensure_platform_images()
    assert (shipped().name, shipped().active, shipped().requirements) == ("Audio", False, ["soundfile==0.13.1"])


def test_saving_without_a_change_is_no_edit(staff: Actor) -> None:
    ensure_platform_images()
    one = RUNTIMES[0]
    same = ruling.ImageSpec(one.name, one.description_en, one.description_zh, one.requirements, one.sort)
    change(staff, shipped(), same)
    assert shipped().edited_at is None


def test_an_image_for_some_organisations_is_chosen_by_theirs_alone(world: World, staff: Actor) -> None:
    image = add(staff, replace(SPEC, allowed=(world.organisation.pk,)))
    with acting(platform()):
        elsewhere = make_organisation()
        bob = actor_of(make_member(elsewhere, "bob"), elsewhere)
    with acting(world.actor):
        assert selectors.choosable_image(world.actor, image.pk) == image
    with acting(bob):
        assert image not in selectors.images(bob)
        with pytest.raises(Invalid):
            selectors.choosable_image(bob, image.pk)
    change(staff, image, SPEC)
    with acting(bob):
        assert image in selectors.images(bob)


def test_what_is_off_offer_cannot_be_chosen(world: World, staff: Actor) -> None:
    image = add(staff, replace(SPEC, active=False))
    with acting(world.actor):
        assert image not in selectors.images(world.actor)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "<b>"}, "name"),
        ({"name": "PYTHON"}, "name"),
        ({"description_zh": " "}, "description_zh"),
        ({"requirements": ("numpy>=2",)}, "requirements"),
        ({"requirements": ("numpy==2.3.5", "NumPy==2.3.4")}, "requirements"),
        ({"requirements": ("-r /etc/passwd",)}, "requirements"),
        ({"sort": -1}, "sort"),
        ({"allowed": ()}, "allowed"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_kept(staff: Actor, changes: dict[str, object], field: str) -> None:
    before = Image.objects.count()
    with pytest.raises(Invalid) as refused:
        add(staff, replace(SPEC, **changes))  # type: ignore[arg-type]
    assert list(refused.value.fields) == [field]
    assert Image.objects.count() == before


def test_a_personal_image_is_withdrawn_once_and_never_edited(world: World, staff: Actor) -> None:
    with acting(world.actor):
        image = services.create_personal_image(
            world.actor, name="mine", base=world.image, added=["six==1.17.0"], shared=True
        )
    with pytest.raises(NotFound):
        change(staff, image, SPEC)
    with acting(staff):
        ruling.withdraw(staff, image.pk)
        with pytest.raises(Conflict):
            ruling.withdraw(staff, image.pk)
    with acting(world.actor):
        assert image not in selectors.images(world.actor)
        assert not selectors.own_images(world.actor).exists()


def test_only_who_rules_images_decides(world: World) -> None:
    with acting(platform()):
        finance = staff_actor(make_staff(PlatformRole.FINANCE))
    for act in (lambda: ruling.create(finance, SPEC), lambda: ruling.all_images(finance)):
        with pytest.raises(Denied):
            act()
