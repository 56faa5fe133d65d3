"""The language of the last page is remembered for mails, and an own choice goes before it."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from apps.common.actor import Actor, Channel
from apps.common.scoping import acting
from apps.notifications.composing import language_of
from apps.notifications.settings import MailSettings
from apps.tenants import services, settings
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from apps.tenants.models import User
from apps.tenants.registration import RegistrationSettings
from tests.builders import PASSWORD, make_member, make_organisation, make_staff, platform

pytestmark = pytest.mark.django_db
CHINESE, ENGLISH = {"Accept-Language": "zh-CN,zh;q=0.9"}, {"Accept-Language": "en-GB"}
PAGE = "/account/"


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation())


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def mails_of(user: User) -> str:
    user.refresh_from_db()
    with acting(platform()):
        return language_of(user)


def test_signing_in_with_a_chinese_browser_makes_mails_chinese(alice: User) -> None:
    assert mails_of(alice) == "en"
    Client(headers=CHINESE).post("/accounts/login/", {"login": alice.username, "password": PASSWORD})
    assert mails_of(alice) == "zh-hans"


def test_registering_with_a_chinese_browser_makes_mails_chinese() -> None:
    with acting(platform()) as actor:
        settings.put(actor, RegistrationSettings(open=True))
    given = {"username": "lin", "email": "lin@example.org", "password1": PASSWORD, "password2": PASSWORD}
    Client(headers=CHINESE).post("/accounts/signup/", given)
    assert mails_of(User.objects.get(username="lin")) == "zh-hans"


def test_mails_follow_the_last_page(alice: User, client: Client) -> None:
    client.get(PAGE, headers=CHINESE)
    assert mails_of(alice) == "zh-hans"
    client.get(PAGE, headers=ENGLISH)
    assert mails_of(alice) == "en"
    client.cookies["plstack_language"] = "zh-hans"
    client.get(PAGE, headers=ENGLISH)
    assert mails_of(alice) == "zh-hans"


def test_it_is_written_only_when_it_changes(alice: User, client: Client) -> None:
    writes = []
    for _time in range(3):
        with CaptureQueriesContext(connection) as seen:
            client.get(PAGE, headers=CHINESE)
        writes.append(sum("last_language" in row["sql"] and row["sql"].startswith("UPDATE") for row in seen))
    assert writes == [1, 0, 0]


def test_ones_own_choice_goes_before_it(alice: User, client: Client) -> None:
    User.objects.filter(pk=alice.pk).update(language="en")
    client.get(PAGE, headers=CHINESE)
    assert mails_of(alice) == "en"


def test_it_goes_before_the_language_of_the_installation(alice: User, client: Client) -> None:
    admin = make_staff(PlatformRole.SUPER)
    with acting(platform_actor(admin)) as actor:
        settings.put(actor, MailSettings(language="zh-hans"))
    assert mails_of(alice) == "zh-hans"
    client.get(PAGE, headers=ENGLISH)
    assert mails_of(alice) == "en"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (PAGE, {}),  # a program
        ("/api/v1/me/", CHINESE),
        (PAGE, {**CHINESE, "HX-Request": "true"}),  # pages poll: two browsers would write in turn
    ],
)
def test_programs_and_fragments_change_nothing(alice: User, client: Client, path: str, headers: dict[str, str]) -> None:
    client.get(path, headers=headers)
    alice.refresh_from_db()
    assert alice.last_language == ""


@pytest.mark.parametrize(("wanted", "expected"), [("web", "zh-hans"), ("command", "en")])
def test_a_new_colleague_gets_mails_in_the_language_of_who_added_them(wanted: str, expected: str) -> None:
    actor = _reached(platform_actor(make_staff(PlatformRole.SUPER)), wanted)
    with acting(actor), override("zh-hans"):
        user, _password = services.create_user(actor, person=services.Person("lin", "lin@example.org"))
    assert mails_of(user) == expected


def _reached(actor: Actor, channel: str) -> Actor:
    return replace(actor, channel=Channel(channel))
