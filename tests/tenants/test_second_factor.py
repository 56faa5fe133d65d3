"""The second factor: set up, asked for, codes that work once, who has to have it, and its reset."""

import base64
import hashlib
import hmac
import struct
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from apps.audit.models import Entry
from apps.common.errors import Conflict, Denied
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.tenants import second_factor, settings, tokens
from apps.tenants.actors import personal_actor, platform_actor
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.mfa import MFAAdapter
from apps.tenants.models import Organisation, User
from apps.tenants.second_factor import Rule, SecuritySettings
from apps.tenants.tokens import Lifetime, TokenDraft
from tests.builders import PASSWORD, make_member, make_organisation, make_staff, platform

pytestmark = pytest.mark.django_db
LOGIN, CODE, ACTIVATE = "/accounts/login/", "/accounts/2fa/authenticate/", "/accounts/2fa/totp/activate/"


def totp(secret: str, periods_ahead: int = 0) -> str:
    """RFC 6238, written out here so that the platform is not checked against itself."""
    counter = int(time.time()) // 30 + periods_ahead
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", counter), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset : offset + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "alice")


def sign_in(user: User, client: Client | None = None) -> Client:
    client = client or Client()
    client.post(LOGIN, {"login": user.username, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def set_up(user: User) -> tuple[Client, str, list[str]]:
    """The person's browser after setting it up, the secret, and the recovery codes that were shown."""
    client = sign_in(user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = client.get(ACTIVATE).context["form"].secret
    answer = client.post(ACTIVATE, {"code": totp(secret)}, follow=True)
    return client, secret, answer.context["unused_codes"]


def switch(rule: Rule) -> None:
    with acting(platform()):
        settings.put(platform(), SecuritySettings(rule))


def actions(user: User) -> list[str]:
    with acting(platform()):
        return list(Entry.objects.filter(target_id=str(user.pk)).order_by("pk").values_list("action", flat=True))


@pytest.mark.django_db(transaction=True)  # what the library does last, it does on commit
def test_setting_it_up_asks_for_the_password_first_and_is_logged_and_mailed(alice: User) -> None:
    client = sign_in(alice)
    assert client.get(ACTIVATE)["Location"].startswith("/accounts/reauthenticate/")
    client, secret, codes = set_up(alice)
    assert len(codes) == 10
    assert secret not in client.get("/account/security/").content.decode()
    assert "user.second_factor_set_up" in actions(alice)
    assert mail.outbox[-1].subject.endswith("The second factor is on")


def test_a_wrong_code_switches_nothing_on(alice: User) -> None:
    client = sign_in(alice)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = client.get(ACTIVATE).context["form"].secret
    wrong = f"{(int(totp(secret)) + 1) % 10**6:06}"
    page = client.post(ACTIVATE, {"code": wrong}).content.decode()
    assert "This code is not right" in page
    assert secret in page
    assert not second_factor.has_second_factor(alice.pk)


def test_the_password_alone_lets_nobody_in_any_more(alice: User) -> None:
    _client, secret, _codes = set_up(alice)
    client = sign_in(alice)
    assert not is_in(client)
    assert client.get("/training/")["Location"].startswith(LOGIN)
    client.post(CODE, {"code": "000000"})
    assert not is_in(client)
    client.post(CODE, {"code": totp(secret, 1)})
    assert is_in(client)


def test_a_code_works_once_even_in_the_periods_beside_its_own(alice: User) -> None:
    _client, secret, _codes = set_up(alice)
    ahead = totp(secret, 1)
    assert is_in(signed_in_with(alice, ahead))
    assert not is_in(signed_in_with(alice, ahead))
    assert not is_in(signed_in_with(alice, totp(secret)))  # older than the last one taken


def signed_in_with(user: User, code: str) -> Client:
    client = sign_in(user)
    client.post(CODE, {"code": code})
    return client


def test_a_recovery_code_works_once(alice: User) -> None:
    _client, _secret, codes = set_up(alice)
    assert is_in(signed_in_with(alice, codes[0]))
    assert not is_in(signed_in_with(alice, codes[0]))
    client = signed_in_with(alice, codes[1])
    assert is_in(client)
    assert client.get("/account/security/").context["factor"]["codes_left"] == 8


def test_recovery_codes_are_shown_once(alice: User) -> None:
    client, _secret, codes = set_up(alice)
    again = client.get("/accounts/2fa/recovery-codes/").content.decode()
    assert not any(code in again for code in codes)
    assert client.get("/accounts/2fa/recovery-codes/download/").status_code == 403


def test_what_the_database_holds_opens_nothing(alice: User) -> None:
    _client, secret, codes = set_up(alice)
    stored = str(list(Authenticator.objects.filter(user=alice).values_list("data", flat=True)))
    assert secret not in stored
    assert not any(code in stored for code in codes)
    sealed = Authenticator.objects.get(user=alice, type="totp").data["secret"]
    assert MFAAdapter().decrypt(sealed) == secret


def test_tries_are_limited(alice: User) -> None:
    """For who has the password alone; its owner, in their own browser, does not wait for that."""
    own, secret, _codes = set_up(alice)
    client = sign_in(alice)
    for _try in range(5):
        client.post(CODE, {"code": "000000"})
    answer = client.post(CODE, {"code": totp(secret, 1)})
    assert (answer.status_code, int(answer.headers["Retry-After"]) > 0) == (429, True)
    assert "Too many tries" in answer.content.decode()
    assert not is_in(client)
    del own.cookies["plstack_session"]
    sign_in(alice, own).post(CODE, {"code": totp(secret, 1)})
    assert is_in(own)


def test_who_needs_none_may_switch_it_off(alice: User) -> None:
    client, _secret, _codes = set_up(alice)
    client.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.filter(user=alice).exists()
    assert is_in(sign_in(alice))
    assert "user.second_factor_removed" in actions(alice)


@pytest.mark.parametrize(("role", "needs"), [(Role.MEMBER, False), (Role.FINANCE, True), (Role.ADMIN, True)])
def test_people_who_rule_money_are_led_to_it_before_anything_else(lab: Organisation, role: Role, needs: bool) -> None:
    switch(Rule.ON)
    with acting(platform()):
        user = make_member(lab, "erin", role)
    answer = Client().post(LOGIN, {"login": user.username, "password": PASSWORD})
    assert (answer["Location"] == "/account/security/") is needs
    client = sign_in(user)
    page = client.get("/training/")
    assert (page.status_code, page.headers.get("Location")) == ((302, "/account/security/") if needs else (200, None))
    told = client.get("/api/v1/wallet/")
    assert (told.status_code == 403 and told.json()["code"] == "second_factor_required") is needs
    assert ("Your role needs a second factor" in client.get("/account/security/").content.decode()) is needs


def test_a_fragment_leads_the_whole_page_there(lab: Organisation) -> None:
    switch(Rule.ON)
    with acting(platform()):
        user = make_member(lab, "erin", Role.ADMIN)
    answer = sign_in(user).get("/training/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/account/security/")


def test_with_it_everything_opens_and_it_cannot_be_switched_off(lab: Organisation) -> None:
    switch(Rule.ON)
    with acting(platform()):
        staff = make_staff()
    client = sign_in(staff)
    assert client.get("/console/")["Location"] == "/account/security/"
    client, _secret, _codes = set_up(staff)
    assert client.get("/console/").status_code == 200
    client.post("/accounts/2fa/totp/deactivate/")
    assert second_factor.has_second_factor(staff.pk)


@pytest.mark.parametrize(
    ("rule", "by_default", "asked"),
    [(Rule.AUTOMATIC, True, True), (Rule.AUTOMATIC, False, False), (Rule.OFF, True, False), (Rule.ON, False, True)],
)
def test_the_rule_of_the_installation(settings: LazySettings, rule: Rule, by_default: bool, asked: bool) -> None:
    settings.SECOND_FACTOR_BY_DEFAULT = by_default
    switch(rule)
    assert second_factor.is_enforced() is asked


def test_a_token_of_somebody_who_needs_one_and_has_none_is_refused(lab: Organisation) -> None:
    with acting(platform()):
        erin = make_member(lab, "erin", Role.ADMIN)
    actor = personal_actor(erin)
    with acting(actor):
        rights = frozenset({P.BILLING_VIEW, P.BILLING_VIEW_OWN})
        _token, secret = tokens.create(actor, draft=TokenDraft("ci", lab.pk, rights, Lifetime.MONTH))
    client = Client(headers={"authorization": f"Bearer {secret}"})
    assert client.get("/api/v1/wallet/").status_code == 200
    switch(Rule.ON)
    refused = client.get("/api/v1/wallet/")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")


def test_staff_reset_it_for_who_lost_it_and_the_log_says_so(alice: User) -> None:
    set_up(alice)
    with acting(platform()):
        staff = make_staff(PlatformRole.BUSINESS)
    actor = platform_actor(staff)
    with acting(actor):
        second_factor.reset(actor, user_id=alice.pk)
    assert is_in(sign_in(alice))
    assert "user.second_factor_reset" in actions(alice)
    with acting(actor), pytest.raises(Conflict):
        second_factor.reset(actor, user_id=alice.pk)


def test_nobody_resets_their_own_or_that_of_people_who_may_more() -> None:
    with acting(platform()):
        super_admin, business = make_staff(PlatformRole.SUPER, "root"), make_staff(PlatformRole.BUSINESS, "biz")
    set_up(super_admin)
    cases: list[tuple[User, User, Any]] = [(business, super_admin, Denied), (super_admin, super_admin, Conflict)]
    for who, whose, error in cases:
        actor = platform_actor(who)
        with acting(actor), pytest.raises(error):
            second_factor.reset(actor, user_id=whose.pk)
    assert second_factor.has_second_factor(super_admin.pk)
