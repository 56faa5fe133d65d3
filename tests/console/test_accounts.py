"""Staff and other people's accounts: what was done is told to whom it happened."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.console.people.accounts import services as accounts
from apps.notifications.models import Notice
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
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
        return list(Notice.objects.filter(user=user).order_by("-pk").values_list("kind", flat=True))


def test_a_reset_second_factor_is_told(alice: User, business: User) -> None:
    set_up(alice)
    actor = platform_actor(business)
    with acting(actor):
        accounts.reset_second_factor(actor, user_id=alice.pk)
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
