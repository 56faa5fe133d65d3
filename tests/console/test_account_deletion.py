"""The pages and the API that delete an account: what they say before, and to whom they open."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import AccountDeletion, User
from tests.builders import PASSWORD, World, make_member, make_staff, make_world, platform, signed_in, submit_workload
from tests.tenants.deletion.kit import end_terms, loop
from tests.tenants.test_second_factor import sign_in

pytestmark = pytest.mark.django_db
API = "/api/v1/console/people/{}/deletion/"


@pytest.fixture
def world() -> World:
    with acting(platform()):
        made = make_world()
        make_member(made.organisation, "dora", Role.ADMIN)
        return made


@pytest.fixture
def boss() -> Client:
    with acting(platform()):
        return signed_in(make_staff(PlatformRole.SUPER))


def shown(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_the_page_asks_for_the_user_name_and_then_says_until_when(world: World, boss: Client) -> None:
    page = f"/console/people/{world.alice.pk}/"
    said = shown(boss, f"{page}delete/")
    assert "Postings, statements, invoices" in said
    assert world.organisation.name in said
    wrong = boss.post(f"{page}delete/", {"confirm": "alice"})
    assert wrong.status_code == 422
    assert "This is not the user name" in wrong.content.decode()
    assert not AccountDeletion.objects.exists()
    answer = boss.post(f"{page}delete/", {"confirm": world.alice.username}, follow=True)
    assert "This account will be deleted on" in answer.content.decode()
    assert f"{page}enable/" not in answer.content.decode()
    answer = boss.post(f"{page}keep/", follow=True)
    assert "stays." in answer.content.decode()
    assert User.objects.get(pk=world.alice.pk).is_active


def test_what_is_in_the_way_is_named_instead_of_a_button(world: World, boss: Client) -> None:
    with acting(world.actor):
        submit_workload(world)
    page = f"/console/people/{world.alice.pk}/delete/"
    said = shown(boss, page)
    assert "Something is in the way" in said
    assert 'name="confirm"' not in said
    refused = boss.post(page, {"confirm": world.alice.username})
    assert refused.status_code == 422
    assert User.objects.get(pk=world.alice.pk).is_active


def test_afterwards_the_page_shows_a_number_and_no_acts(world: World, boss: Client) -> None:
    boss.post(API.format(world.alice.pk))
    end_terms()
    loop()
    said = shown(boss, f"/console/people/{world.alice.pk}/")
    assert f"deleted-{world.alice.pk}" in said
    assert "This account was deleted on" in said
    assert world.alice.email not in said
    assert "Delete account" not in said
    assert "Assign role" not in said
    assert f"deleted-{world.alice.pk}" not in shown(boss, "/console/people/")
    assert f"deleted-{world.alice.pk}" in shown(boss, "/console/people/?state=deleted")


def test_the_list_finds_accounts_that_are_about_to_be_deleted(world: World, boss: Client) -> None:
    boss.post(API.format(world.alice.pk))
    said = shown(boss, "/console/people/?state=leaving")
    assert world.alice.username in said
    assert "dora" not in said


def test_the_api_asks_shows_and_takes_back(world: World, boss: Client) -> None:
    path = API.format(world.alice.pk)
    before = boss.get(path).json()
    assert before["asked_at"] is None
    assert before["in_the_way"] == []
    assert any(world.organisation.name in line["names"] for line in before["lost"])
    asked = boss.post(path)
    assert asked.status_code == 200
    assert boss.post(path).json()["erase_at"] == asked.json()["erase_at"]
    assert boss.delete(path).status_code == 204
    assert boss.delete(path).status_code == 409


def test_only_staff_with_the_right_reach_it(world: World) -> None:
    with acting(platform()):
        finance, ops = make_staff(PlatformRole.FINANCE), make_staff(PlatformRole.OPS)
        dora = make_member(world.organisation, "dora2", Role.ADMIN)
    for user in (finance, ops, dora):
        client = signed_in(user)
        assert client.post(API.format(world.alice.pk)).status_code == 403
        page = f"/console/people/{world.alice.pk}/delete/"
        assert client.post(page, {"confirm": world.alice.username}).status_code in (403, 404)
    assert not AccountDeletion.objects.exists()


def test_one_deletes_ones_own_account_after_the_password(world: World) -> None:
    there = signed_in(world.alice)
    assert there.get("/account/delete/").status_code == 302  # asks who it is first
    there = sign_in(world.alice)
    there.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert "Postings, statements" in shown(there, "/account/delete/")
    answer = there.post("/account/delete/", {"confirm": world.alice.username})
    assert "You are signed out" in answer.content.decode()
    assert there.get("/account/").status_code == 302
    denied = Client().post("/accounts/login/", {"login": world.alice.username, "password": PASSWORD}, follow=True)
    assert "This account is disabled" in denied.content.decode()
