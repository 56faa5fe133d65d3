"""The language of people who have chosen none: the one in their profile, the installation's, or the browser's."""

from dataclasses import replace
from io import StringIO

import pytest
from django.conf import settings as installation
from django.core.management import CommandError, call_command
from django.test import Client

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.console.management.commands.first_data import first_language
from apps.notifications.branding import BrandingSettings
from apps.notifications.composing import language_of
from apps.notifications.settings import MailSettings
from apps.tenants import settings
from apps.tenants.models import Organisation, User
from tests.builders import make_member, make_organisation, make_staff, platform, signed_in

pytestmark = pytest.mark.django_db
LOGIN, HOME = "/accounts/login/", "/"
BROWSER = {"Accept": "text/html,*/*", "Accept-Language": "en-US,en"}
CHINESE = {**BROWSER, "Accept-Language": "zh-CN,zh;q=0.9"}
COOKIE = installation.LANGUAGE_COOKIE_NAME


def speaks(language: str) -> None:
    with acting(platform()) as actor:
        settings.put(actor, replace(settings.get(BrandingSettings), language=language))


def heard(client: Client, path: str = LOGIN, **headers: str) -> str:
    return str(client.get(path, headers=headers).headers["Content-Language"])


@pytest.mark.parametrize(
    ("standing", "english", "chinese"), [("", "en", "zh-hans"), ("zh-hans", "zh-hans", "zh-hans"), ("en", "en", "en")]
)
def test_who_has_chosen_nothing_gets_the_installation_s(standing: str, english: str, chinese: str) -> None:
    speaks(standing)
    assert heard(Client(), **BROWSER) == english
    assert heard(Client(), **CHINESE) == chinese


def test_a_choice_goes_before_it_and_its_cookie_stays() -> None:
    speaks("zh-hans")
    client = Client()
    client.post("/i18n/setlang/", {"language": "en"}, headers=BROWSER)
    assert heard(client, **BROWSER) == "en"


def test_the_language_of_the_profile_follows_to_another_browser() -> None:
    with acting(platform()):
        alice = make_member(make_organisation())
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    client = signed_in(User.objects.get(pk=alice.pk))
    assert heard(client, HOME, **BROWSER) == "zh-hans"


def test_fragments_follow_their_page_and_programs_are_left_alone() -> None:
    speaks("zh-hans")
    client = Client()
    heard(client, **BROWSER)
    assert client.cookies[COOKIE].value == "zh-hans"
    assert heard(client, **{**BROWSER, "HX-Request": "true"}) == "zh-hans"
    program = Client()
    program.get("/api/v1/me/", headers=BROWSER)
    assert COOKIE not in program.cookies


def test_mails_to_people_who_were_never_here_speak_it() -> None:
    with acting(platform()):
        alice = make_member(make_organisation())
        assert language_of(alice) == "en"
    speaks("zh-hans")
    with acting(platform()) as actor:
        assert language_of(alice) == "zh-hans"
        settings.put(actor, MailSettings(language="en"))
        assert language_of(alice) == "en"


def test_it_is_set_in_the_console_and_nothing_else_is_taken() -> None:
    with acting(platform()):
        root = signed_in(make_staff())
    page = "/console/settings/branding/"
    assert root.post(page, {"portal_name": "Lab", "language": "zh-hans"}).status_code == 302
    assert settings.get(BrandingSettings).language == "zh-hans"
    assert root.post(page, {"portal_name": "Lab", "language": "de"}).status_code == 422
    with pytest.raises(Invalid):
        BrandingSettings(language="de").validate()
    answer = root.patch("/api/v1/console/settings/branding/", {"language": ""}, content_type="application/json")
    assert (answer.status_code, settings.get(BrandingSettings).language) == (200, "")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, ""),
        ({"LANG": "en_GB.UTF-8"}, ""),
        ({"LANG": "zh_CN.UTF-8"}, "zh-hans"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, ""),
        ({"LANG": "zh_CN.UTF-8", "PLSTACK_LANGUAGE": "en"}, "en"),
        ({"PLSTACK_LANGUAGE": " zh-Hans "}, "zh-hans"),
    ],
)
def test_the_first_start_takes_it_from_its_environment(environment: dict[str, str], language: str) -> None:
    assert first_language(environment) == language


def test_a_language_that_there_is_not_is_refused() -> None:
    with pytest.raises(CommandError, match="en, zh-hans"):
        first_language({"PLSTACK_LANGUAGE": "deutsch"})


def test_a_chinese_installation_begins_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLSTACK_LANGUAGE", "zh-hans")
    call_command("first_data", stdout=StringIO())
    with acting(platform()):
        assert Organisation.objects.get().name == "实验室"
        assert User.objects.get().name == "管理员"
    assert settings.get(BrandingSettings).language == "zh-hans"
    monkeypatch.setenv("PLSTACK_LANGUAGE", "en")
    call_command("first_data", stdout=StringIO())  # later starts change nothing
    assert settings.get(BrandingSettings).language == "zh-hans"
