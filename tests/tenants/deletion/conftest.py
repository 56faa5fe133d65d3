"""An organisation with Alice and its administrator Dora, and a super admin, who deletes accounts."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from tests.builders import World, make_member, make_staff, make_world, platform, staff_actor


@pytest.fixture(autouse=True)
def home(settings: LazySettings, tmp_path: Path) -> None:
    settings.PLSTACK_HOME = tmp_path


@pytest.fixture
def world() -> World:
    with acting(platform()):
        made = make_world()
        make_member(made.organisation, "dora", Role.ADMIN)
        return made


@pytest.fixture
def boss() -> Actor:
    with acting(platform()):
        return staff_actor(make_staff(PlatformRole.SUPER, "boss"))
