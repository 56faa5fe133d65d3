"""Sign-ins: listed with words for the device, ended one by one, all at once, by a new password, by staff."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.db.models.functions import Now
from django.test import Client

from apps.audit.models import Entry
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.tenants import sessions
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from apps.tenants.devices import device_of
from apps.tenants.models import User
from tests.builders import PASSWORD, make_member, make_organisation, make_staff, platform

pytestmark = pytest.mark.django_db
PAGE = "/account/security/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0"
)
WECHAT = (
    "Mozilla/5.0 (Linux; Android 14; M2102) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 "
    "Chrome/116.0.0.0 Mobile Safari/537.36 MicroMessenger/8.0.49"
)


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def sign_in(user: User, agent: str = FIREFOX, address: str = "192.0.2.7") -> Client:
    client = Client(headers={"user-agent": agent}, REMOTE_ADDR=address)
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_the_page_lists_them_this_one_first(alice: User) -> None:
    here = sign_in(alice)
    sign_in(alice, IPHONE, "198.51.100.9")
    page = here.get(PAGE)
    assert [row["here"] for row in page.context["sessions"]] == [True, False]
    text = page.content.decode()
    for words in ("Firefox on Linux", "Safari on iPhone", "198.51.100.9", "this device"):
        assert words in text


def test_one_is_ended(alice: User) -> None:
    here, there = sign_in(alice), sign_in(alice, IPHONE)
    row = UserSession.objects.get(user_agent=IPHONE)
    here.post(f"{PAGE}sessions/{row.pk}/end/")
    assert is_in(here)
    assert not is_in(there)


def test_all_others_are_ended_and_logged(alice: User) -> None:
    here, others = sign_in(alice), [sign_in(alice, IPHONE), sign_in(alice, EDGE)]
    here.post(f"{PAGE}sign-out-others/")
    assert is_in(here)
    assert not any(is_in(client) for client in others)
    with acting(platform()):
        assert Entry.objects.get(action="user.sessions_ended").after == {"sessions": 2}


def test_nobody_ends_anothers(alice: User) -> None:
    there = sign_in(alice)
    with acting(platform()):
        bob = make_member(make_organisation(), "bob")
    row = UserSession.objects.get(user=alice)
    assert sign_in(bob).post(f"{PAGE}sessions/{row.pk}/end/").status_code == 404
    assert is_in(there)


def test_a_new_password_ends_the_others(alice: User) -> None:
    here, there = sign_in(alice), sign_in(alice, IPHONE)
    new = {"oldpassword": PASSWORD, "password1": "another-horse-42", "password2": "another-horse-42"}
    here.post("/accounts/password/change/", new)
    assert is_in(here)
    assert not is_in(there)
    assert [row["here"] for row in here.get(PAGE).context["sessions"]] == [True]


def test_staff_end_somebodys_but_not_those_of_people_who_may_more(alice: User) -> None:
    with acting(platform()):
        root, business = make_staff(PlatformRole.SUPER, "root"), make_staff(PlatformRole.BUSINESS, "biz")
    there, ruler = sign_in(alice), sign_in(root)
    actor = platform_actor(business)
    with acting(actor):
        assert sessions.end_all_of(actor, user_id=alice.pk) == 1
    assert not is_in(there)
    actor = platform_actor(root)
    with acting(actor), pytest.raises(Conflict):
        sessions.end_all_of(actor, user_id=root.pk)
    assert is_in(ruler)


def test_use_is_noted_at_most_once_a_minute(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = sign_in(alice)
    row = UserSession.objects.get(user=alice)
    UserSession.objects.update(last_seen_at=Now() - timedelta(hours=1))
    client.get("/account/")
    row.refresh_from_db()
    long_ago = row.last_seen_at
    monkeypatch.setattr(sessions, "_noted", {})
    client.get("/account/")
    row.refresh_from_db()
    assert row.last_seen_at > long_ago + timedelta(minutes=59)


def test_a_session_from_before_they_were_listed_is_listed_at_its_next_use(alice: User) -> None:
    client = sign_in(alice)
    UserSession.objects.all().delete()
    sessions._noted.clear()
    assert is_in(client)
    assert UserSession.objects.filter(user=alice).count() == 1


def test_the_api_lists_and_ends(alice: User) -> None:
    here, there = sign_in(alice), sign_in(alice, IPHONE)
    listed = here.get("/api/v1/me/sessions/").json()
    assert {row["browser"]: row["current"] for row in listed} == {"Firefox": True, "Safari": False}
    other = next(row["id"] for row in listed if not row["current"])
    assert here.delete(f"/api/v1/me/sessions/{other}/").status_code == 204
    assert not is_in(there)
    sign_in(alice, EDGE)
    assert here.post("/api/v1/me/sessions/end-others/").json() == {"ended": 1}


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, ("Firefox", "Linux", "device-laptop")),
        (IPHONE, ("Safari", "iPhone", "device-mobile")),
        (EDGE, ("Edge", "Windows", "device-laptop")),
        (WECHAT, ("WeChat", "Android", "device-mobile")),
        ("curl/8.5.0", ("", "", "terminal-2")),
        ("", ("", "", "terminal-2")),
    ],
)
def test_words_for_devices(agent: str, words: tuple[str, str, str]) -> None:
    device = device_of(agent)
    assert (device.browser, device.system, device.icon) == words
