"""Signing in and out, and passwords: what is let in, what is refused, what the operation log keeps."""

import re

import pytest
from django.core import mail
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants.models import User
from tests.builders import PASSWORD, make_member, make_organisation, platform

pytestmark = pytest.mark.django_db
NEW = "another-horse-42"


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation())


def actions(user: User) -> list[str]:
    with acting(platform()):
        rows = Entry.objects.filter(actor_id=user.pk, target_id=str(user.pk)).order_by("pk")
        return list(rows.values_list("action", flat=True))


def sign_in(client: Client, login: str, password: str) -> bool:
    client.post("/accounts/login/", {"login": login, "password": password})
    return "_auth_user_id" in client.session


def test_by_user_name_or_by_e_mail(alice: User) -> None:
    assert sign_in(Client(), alice.username, PASSWORD)
    assert sign_in(Client(), alice.email.upper(), PASSWORD)
    assert actions(alice) == ["user.signed_in", "user.signed_in"]


def test_a_wrong_password_and_a_disabled_account_stay_outside(alice: User) -> None:
    assert not sign_in(Client(), alice.username, "wrong")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert not sign_in(Client(), alice.username, PASSWORD)
    assert actions(alice) == []


def test_nobody_registers_by_himself() -> None:
    answer = Client().post("/accounts/signup/", {"username": "eve", "password1": NEW, "password2": NEW, "email": ""})
    assert not User.objects.filter(username="eve").exists()
    assert answer.status_code == 200


def test_changing_the_password_asks_for_the_old_one_and_is_logged(alice: User) -> None:
    client = Client()
    sign_in(client, alice.username, PASSWORD)
    page = "/accounts/password/change/"
    client.post(page, {"oldpassword": "wrong", "password1": NEW, "password2": NEW})
    assert not sign_in(Client(), alice.username, NEW)
    client.post(page, {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert sign_in(Client(), alice.username, NEW)
    assert "user.password_changed" in actions(alice)


def test_a_forgotten_password_is_reset_by_mail(alice: User) -> None:
    client = Client()
    client.post("/accounts/password/reset/", {"email": alice.email})
    link = re.search(r"https?://[^/]+(/accounts/password/reset/key/\S+)", mail.outbox[0].body)
    assert link is not None
    form = client.get(link[1], follow=True)
    client.post(form.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    assert sign_in(Client(), alice.username, NEW)


def test_a_reset_for_an_unknown_address_says_the_same(alice: User) -> None:
    known = Client().post("/accounts/password/reset/", {"email": alice.email}, follow=True)
    unknown = Client().post("/accounts/password/reset/", {"email": "nobody@example.com"}, follow=True)
    assert known.redirect_chain == unknown.redirect_chain


def test_after_signing_out_pages_ask_to_sign_in_again(alice: User) -> None:
    client = Client()
    sign_in(client, alice.username, PASSWORD)
    assert client.get("/training/").status_code == 200
    client.post("/accounts/logout/")
    assert client.get("/training/").headers["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize(
    ("page", "lands_on"),
    [
        ("http://testserver/training/?tab=log", "/training/%3Ftab%3Dlog"),
        ("", "/"),
        ("http://[", "/"),
        ("http://evil.example/x", "/x"),
    ],
)
def test_who_signs_in_after_a_fragment_was_refused_returns_to_its_page(page: str, lands_on: str) -> None:
    answer = Client().get("/training/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, f"/accounts/login/?next={lands_on}")
