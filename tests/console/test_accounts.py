"""Staff and other people's accounts: what was done is told to whom it happened."""

import pytest
from django.core import mail
from django.test import Client

from apps.common.scoping import acting
from apps.console.people.accounts import services as accounts
from apps.notifications.following import notify_from_log
from apps.notifications.models import Notice
from apps.tenants import second_factor
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from apps.tenants.emails import is_confirmed
from apps.tenants.models import User
from tests.builders import PASSWORD, make_member, make_organisation, make_staff, platform
from tests.tenants.test_second_factor import is_in, set_up, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


@pytest.fixture
def business() -> User:
    with acting(platform()):
        return make_staff(PlatformRole.BUSINESS, "biz")


def kinds_of(user: User) -> list[str]:
    with acting(platform()):
        for _each in range(2):  # each entry of the log is told once
            notify_from_log()
        return list(Notice.objects.filter(user=user).order_by("-pk").values_list("kind", flat=True))


def test_a_reset_second_factor_is_told(alice: User, business: User) -> None:
    set_up(alice)
    actor = platform_actor(business)
    with acting(actor):
        second_factor.reset(actor, user_id=alice.pk)
    assert kinds_of(alice) == ["security.second_factor_reset"]
    assert is_in(sign_in(alice))


def test_a_new_password_is_told_and_ends_every_sign_in(alice: User, business: User) -> None:
    there = sign_in(alice)
    actor = platform_actor(business)
    with acting(actor):
        password = accounts.reset_password(actor, user_id=alice.pk)
    assert there.get("/account/").status_code == 302
    assert kinds_of(alice) == ["security.password_reset"]
    client = Client()
    client.post("/accounts/login/", {"login": alice.username, "password": PASSWORD})
    assert not is_in(client)
    client.post("/accounts/login/", {"login": alice.username, "password": password})
    assert is_in(client)


def test_the_page_signs_out_everywhere_and_refuses_in_words(alice: User, business: User) -> None:
    there, staff = sign_in(alice), sign_in(business)
    answer = staff.post(f"/console/people/{alice.pk}/sign-out/", follow=True)
    assert "1 sign-in has been ended." in answer.content.decode()
    assert there.get("/account/").status_code == 302
    answer = staff.post(f"/console/people/{business.pk}/sign-out/", follow=True)
    assert staff.get("/account/").status_code == 200
    assert "has been ended" not in answer.content.decode()


def test_the_pages_acts_tell_the_person(alice: User, business: User) -> None:
    set_up(alice)
    staff = sign_in(business)
    staff.post(f"/console/people/{alice.pk}/second-factor/")
    assert "no-store" in staff.post(f"/console/people/{alice.pk}/password/")["Cache-Control"]
    assert kinds_of(alice) == ["security.password_reset", "security.second_factor_reset"]


def test_staff_correct_a_name_and_an_address_and_both_addresses_hear(alice: User, business: User) -> None:
    former, page = alice.email, f"/console/people/{alice.pk}/edit/"
    staff = sign_in(business)
    assert former in staff.get(page).content.decode()
    answer = staff.post(page, {"name": "Alice Chen", "email": "chen@example.org"})
    assert answer.headers["Location"] == f"/console/people/{alice.pk}/"
    alice.refresh_from_db()
    assert (alice.name, alice.email) == ("Alice Chen", "chen@example.org")
    assert [message.to for message in mail.outbox] == [[former]]
    assert kinds_of(alice) == ["security.account_changed"]
    assert not is_confirmed(alice)


@pytest.mark.parametrize("email", ["no address", "{taken}"])
def test_a_wrong_or_taken_address_is_refused_and_nothing_is_lost(alice: User, business: User, email: str) -> None:
    wrong = email.format(taken=business.email.upper())
    answer = sign_in(business).post(f"/console/people/{alice.pk}/edit/", {"name": "Alice Chen", "email": wrong})
    assert answer.status_code == 422
    assert wrong in answer.content.decode()
    assert "Alice Chen" in answer.content.decode()
    assert User.objects.get(pk=alice.pk).email == alice.email


def test_nobody_edits_staff_who_may_do_more(alice: User, business: User) -> None:
    with acting(platform()):
        boss = make_staff(PlatformRole.SUPER, "boss")
    answer = sign_in(business).post(f"/console/people/{boss.pk}/edit/", {"name": "Me", "email": "me@example.org"})
    assert answer.status_code in (403, 409, 422)
    assert User.objects.get(pk=boss.pk).email == boss.email


def test_the_api_changes_what_is_sent(alice: User, business: User) -> None:
    address = f"/api/v1/console/people/{alice.pk}/"
    answer = sign_in(business).patch(address, {"name": "Alice Chen"}, content_type="application/json")
    assert (answer.status_code, answer.json()["name"], answer.json()["email"]) == (200, "Alice Chen", alice.email)
