"""The console's page of how people sign in: kept, refused in words, secrets never sent back."""

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import PlatformRole
from apps.tenants.second_factor import Rule, SecuritySettings
from apps.tenants.social.settings import Cloud, SignInSettings
from tests.builders import make_staff, platform, signed_in

pytestmark = pytest.mark.django_db
PAGE = "/console/settings/sign-in/"
OTHERS = {
    "which": "others",
    "others-weixin_on": "on",
    "others-weixin_id": "wx0123",
    "others-weixin_secret": "open sesame",
    "others-microsoft_id": "",
    "others-microsoft_tenant": "contoso.example",
    "others-microsoft_cloud": "china",
}


@pytest.fixture
def staff() -> Client:
    with acting(platform()):
        return signed_in(make_staff())


def test_the_rule_of_the_second_factor_is_kept_and_logged(staff: Client) -> None:
    answer = staff.post(PAGE, {"which": "security", "security-second_factor": "off"})
    assert answer.status_code == 302
    assert settings.get(SecuritySettings).second_factor is Rule.OFF
    with acting(platform()):
        entry = Entry.objects.get(action="settings.changed")
    assert (entry.before, entry.after) == ({"second_factor": "automatic"}, {"second_factor": "off"})


def test_switching_it_on_leads_the_administrator_to_set_it_up(staff: Client) -> None:
    answer = staff.post(PAGE, {"which": "security", "security-second_factor": "on"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/account/security/"
    assert "Your role needs a second factor" in answer.content.decode()


def test_other_accounts_are_kept_and_the_secret_stays_hidden(staff: Client) -> None:
    staff.post(PAGE, OTHERS)
    kept = settings.get(SignInSettings)
    assert (kept.weixin_on, kept.weixin_id, kept.weixin_secret) == (True, "wx0123", "open sesame")
    assert kept.microsoft_cloud is Cloud.CHINA
    page = staff.get(PAGE).content.decode()
    assert "open sesame" not in page
    assert "http://testserver/accounts/weixin/login/callback/" in page
    with acting(platform()):
        assert "sesame" not in str(Entry.objects.get(action="settings.changed").after)
    staff.post(PAGE, {**OTHERS, "others-weixin_secret": "", "others-weixin_id": "wx9"})
    assert settings.get(SignInSettings).weixin_secret == "open sesame"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"others-weixin_secret": ""}, "Needed to switch it on."),
        ({"others-microsoft_on": "on"}, "Needed to switch it on."),
        ({"others-microsoft_tenant": "not a tenant"}, "domain"),
        (
            {"others-microsoft_tenant": "common", "others-microsoft_trust_email": "on"},
            "Only the addresses of one tenant",
        ),
        ({"others-microsoft_cloud": "moon"}, "moon"),
    ],
)
def test_what_cannot_work_is_refused_in_words(staff: Client, wrong: dict[str, str], words: str) -> None:
    answer = staff.post(PAGE, {**OTHERS, **wrong})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert settings.get(SignInSettings) == SignInSettings()


def test_staff_without_the_right_change_nothing(staff: Client) -> None:
    with acting(platform()):
        finance = signed_in(make_staff(PlatformRole.FINANCE, "fin"))
    assert finance.get(PAGE).status_code == 403
    assert finance.post(PAGE, OTHERS).status_code == 403
    assert settings.get(SignInSettings) == SignInSettings()
