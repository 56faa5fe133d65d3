"""Whose work an administrator's home counts, and where staff land."""

import pytest

from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import User
from tests.builders import World, actor_of, make_member, make_staff, make_user, make_world, platform, signed_in
from tests.envs import kit as envs
from tests.portal.test_overview import answers, page, start, submit


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world(role=Role.ADMIN)


@pytest.fixture
def bob(world: World) -> User:
    with acting(platform()):
        return make_member(world.organisation, "bob")


def test_an_admins_home_counts_everything_that_runs_in_the_organisation(world: World, bob: User) -> None:
    """Environments too: what burns is never “nothing runs”."""
    start(world, submit(world, actor_of(bob), name="bobs-run"))
    with acting(actor_of(bob)):
        environment = envs.make(world, actor_of(bob), name="bobs-notebook")
    admin, member = signed_in(world.alice), signed_in(bob)
    cell = answers(admin)["Running"]
    assert cell["value"] == 1
    assert cell["sub"].startswith("0 of them mine")
    home = page(admin)
    assert "Organisation 2" in home
    assert "2 environments, runs and services live in the organisation" in home
    assert "bobs-notebook" not in home
    everybodys = page(admin, whose="all")
    assert "bobs-notebook" in everybodys
    assert f"/environments/{environment.pk}/" in everybodys
    assert answers(member)["Running"]["sub"] == "0 starting · 1 queued"


def test_staff_without_an_organisation_land_in_the_console(world: World) -> None:
    with acting(platform()):
        clerk = make_staff(PlatformRole.FINANCE, "fang")
        nobody = make_user("nobody")
    answer = signed_in(clerk).get("/")
    assert (answer.status_code, answer["Location"]) == (302, "/console/")
    assert signed_in(nobody).get("/").status_code == 200
