"""Volumes and datasets across organisations: staff see and rule them, others do not."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.storage import datasets, volumes
from apps.storage.models import Volume
from apps.tenants.choices import PlatformRole
from tests.builders import World, make_staff, make_world, platform, signed_in


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        return make_world()


@pytest.fixture
def volume(world: World) -> Volume:
    with acting(world.actor):
        datasets.create(world.actor, name="digits")
        return volumes.create(world.actor, name="work", size_mib=1024)


def staff(role: PlatformRole) -> Client:
    with acting(platform()):
        return signed_in(make_staff(role))


def test_staff_see_all_resize_delete_restore_and_remove(world: World, volume: Volume) -> None:
    client = staff(PlatformRole.BUSINESS)
    shown = client.get(reverse("console:volumes")).content.decode()
    assert "work" in shown
    assert world.organisation.name in shown
    assert "digits" in client.get(reverse("console:datasets")).content.decode()
    act = {
        name: reverse("console:volume_act", args=[volume.pk, name]) for name in ("resize", "delete", "restore", "purge")
    }
    assert "Size of the volume work" in client.get(act["resize"]).content.decode()
    client.post(act["resize"], {"size_mib": "2"})
    client.post(act["delete"])
    with acting(platform()):
        volume.refresh_from_db()
    assert (volume.size_mib, volume.deleted_at is not None) == (2048, True)
    assert "work" in client.get(reverse("console:volumes"), {"bin": "on"}).content.decode()
    client.post(act["restore"])
    client.post(act["delete"])
    client.post(act["purge"])
    with acting(platform()):
        assert not Volume.objects.exists()


def test_who_may_only_look_changes_nothing(volume: Volume) -> None:
    client = staff(PlatformRole.OPS)
    assert client.get(reverse("console:volumes")).status_code == 200
    assert client.post(reverse("console:volume_act", args=[volume.pk, "delete"])).status_code == 403
    assert staff(PlatformRole.FINANCE).get(reverse("console:volumes")).status_code == 403
