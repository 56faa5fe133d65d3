"""Signing in with WeChat and Microsoft against providers on the loopback, with every wrong turn."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.models import Membership, User
from apps.tenants.registration import RegistrationSettings
from apps.tenants.social import providers
from apps.tenants.social.settings import Cloud, SignInSettings
from tests.builders import PASSWORD, make_member, make_organisation, platform
from tests.tenants import loopback
from tests.tenants.loopback import Provider
from tests.tenants.test_second_factor import set_up

pytestmark = pytest.mark.django_db
BOTH = ["weixin", "microsoft"]
ON = SignInSettings(
    weixin_on=True,
    weixin_id=loopback.WECHAT_ID,
    weixin_secret=loopback.WECHAT_SECRET,
    microsoft_on=True,
    microsoft_id=loopback.MICROSOFT_ID,
    microsoft_secret=loopback.MICROSOFT_SECRET,
    microsoft_tenant=loopback.TENANT,
)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with loopback.running() as found:
        at = found.address
        monkeypatch.setitem(providers.CLOUDS, Cloud.GLOBAL, providers.Endpoints(at, at))
        monkeypatch.setattr(providers.WeChatAdapter, "authorize_url", f"{at}/connect/qrconnect")
        monkeypatch.setattr(providers.WeChatAdapter, "access_token_url", f"{at}/sns/oauth2/access_token")
        monkeypatch.setattr(providers.WeChatAdapter, "profile_url", f"{at}/sns/userinfo")
        keep(ON)
        yield found


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def keep(value: Any) -> None:
    with acting(platform()):
        settings.put(platform(), value)


def open_registration(**options: Any) -> None:
    keep(RegistrationSettings(open=True, **options))


def leave(client: Client, which: str, process: str = "login") -> str:
    """Press the button: the address at the provider that the page leads to."""
    page = client.post(f"/accounts/{which}/login/?process={process}").content.decode()
    found = re.search(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', page)
    assert found is not None, page
    return html.unescape(found[1])


def there(url: str) -> str:
    """At the provider: agree (or not), and be sent back to this path here."""
    back = requests.get(url, allow_redirects=False, timeout=60).headers["Location"]
    assert back.startswith("http://testserver/")
    return back.removeprefix("http://testserver")


def through(client: Client, which: str, process: str = "login") -> Any:
    return client.get(there(leave(client, which, process)))


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def signed_in(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    return client


def connect(user: User, which: str) -> Client:
    client = signed_in(user)
    answer = through(client, which, "connect")
    assert answer["Location"] == "/account/connected/"
    return client


@pytest.mark.parametrize("which", BOTH)
def test_a_connected_account_lets_its_person_in(provider: Provider, alice: User, which: str) -> None:
    connect(alice, which)
    client = Client()
    through(client, which)
    assert client.session["_auth_user_id"] == str(alice.pk)
    with acting(platform()):
        assert Entry.objects.filter(action="user.sign_in_connected", target_id=str(alice.pk)).count() == 1


@pytest.mark.parametrize("which", BOTH)
def test_the_sign_in_page_offers_what_is_on_and_nothing_else(provider: Provider, which: str) -> None:
    button = f'action="/accounts/{which}/login/"'
    assert button in Client().get("/accounts/login/").content.decode()
    off: dict[str, Any] = {f"{which}_on": False}
    keep(replace(ON, **off))
    assert button not in Client().get("/accounts/login/").content.decode()
    assert Client().post(f"/accounts/{which}/login/").status_code == 404
    assert Client().get(f"/accounts/{which}/login/callback/?code=x&state=y").status_code == 404


@pytest.mark.parametrize("which", BOTH)
def test_strangers_stay_outside_while_registration_is_closed(provider: Provider, which: str) -> None:
    client = Client()
    assert "Registration is closed" in through(client, which).content.decode()
    assert not is_in(client)
    assert User.objects.count() == 0


@pytest.mark.parametrize(("which", "name"), [("weixin", "小林"), ("microsoft", "Lin Xiao")])
def test_a_new_person_follows_the_registration_settings(provider: Provider, which: str, name: str) -> None:
    open_registration(own_organisation=True)
    client = Client()
    through(client, which)
    assert is_in(client)
    user = User.objects.get()
    assert (user.name, user.email) == (name, "")
    assert not user.has_usable_password()
    assert Membership.objects.with_scopes_disabled().filter(user=user).count() == 1
    with acting(platform()):
        assert Entry.objects.get(action="user.registered").after == {"by": which}


def test_who_tells_no_address_cannot_register_where_one_of_a_domain_is_needed(provider: Provider) -> None:
    open_registration(domains=("example.edu",))
    assert "Registration is closed" in through(Client(), "weixin").content.decode()
    assert User.objects.count() == 0


@pytest.mark.parametrize("which", BOTH)
def test_a_state_that_is_not_this_browsers_is_refused(provider: Provider, alice: User, which: str) -> None:
    connect(alice, which)
    back = there(leave(Client(), which))  # somebody else's browser began
    client = Client()
    assert client.get(back).status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("which", BOTH)
def test_without_any_state_nothing_happens(provider: Provider, which: str) -> None:
    code = provider.new_code(f"http://testserver/accounts/{which}/login/callback/")
    assert Client().get(f"/accounts/{which}/login/callback/?code={code}").status_code == 401


@pytest.mark.parametrize("which", BOTH)
def test_a_denial_is_said_in_words(provider: Provider, which: str) -> None:
    provider.denies = True
    client = Client()
    answer = client.get(there(leave(client, which)), follow=True)
    assert re.search("Sign-in (cancelled|did not work)", answer.content.decode())
    assert not is_in(client)


@pytest.mark.parametrize("which", BOTH)
def test_a_code_that_was_used_lets_nobody_in(provider: Provider, alice: User, which: str) -> None:
    connect(alice, which)
    client = Client()
    back = there(leave(client, which))
    provider.codes.clear()  # as if a thief had redeemed it
    answer = client.get(back)
    assert answer.status_code == 401
    assert "Sign-in did not work" in answer.content.decode()
    assert not is_in(client)


@pytest.mark.parametrize("which", BOTH)
def test_the_same_answer_twice_is_refused_the_second_time(provider: Provider, alice: User, which: str) -> None:
    connect(alice, which)
    client = Client()
    back = there(leave(client, which))
    client.get(back)
    client.post("/accounts/logout/")
    assert client.get(back).status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("which", BOTH)
def test_an_error_instead_of_facts_lets_nobody_in(provider: Provider, alice: User, which: str) -> None:
    connect(alice, which)
    provider.facts_fail = True
    client = Client()
    assert through(client, which).status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("which", BOTH)
def test_a_wrong_secret_of_ours_is_a_page_and_not_a_crash(provider: Provider, which: str) -> None:
    wrong: dict[str, Any] = {f"{which}_secret": "wrong"}
    keep(replace(ON, **wrong))
    answer = through(Client(), which)
    assert answer.status_code == 401
    assert "wrong" not in answer.content.decode()


def test_an_address_alone_takes_over_no_account(provider: Provider, alice: User) -> None:
    open_registration()
    provider.person.microsoft["mail"] = alice.email
    client = Client()
    through(client, "microsoft")  # not trusted: the address is not even looked at
    assert client.session.get("_auth_user_id") != str(alice.pk)
    keep(replace(ON, microsoft_trust_email=True))
    SocialAccount.objects.all().delete()
    client = Client()
    answer = through(client, "microsoft")  # trusted, but Alice has not confirmed hers
    assert answer.status_code == 409
    assert "Sign in to it as usual" in answer.content.decode()
    assert not is_in(client)
    assert not SocialAccount.objects.exists()


def test_two_proven_equal_addresses_are_one_person(provider: Provider, alice: User) -> None:
    keep(replace(ON, microsoft_trust_email=True))
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    provider.person.microsoft["mail"] = alice.email.upper()
    client = Client()
    through(client, "microsoft")
    assert client.session["_auth_user_id"] == str(alice.pk)
    assert SocialAccount.objects.get().user == alice
    assert is_in(signed_in(alice))  # the password still works


def test_the_second_factor_is_asked_for_all_the_same(provider: Provider, alice: User) -> None:
    connect(alice, "weixin")
    set_up(alice)
    client = Client()
    assert through(client, "weixin")["Location"].startswith("/accounts/2fa/authenticate/")
    assert not is_in(client)


def test_somebody_elses_connection_is_not_taken(provider: Provider, alice: User) -> None:
    connect(alice, "weixin")
    with acting(platform()):
        bob = make_member(make_organisation(), "bob")
    client = signed_in(bob)
    page = client.get(through(client, "weixin", "connect")["Location"]).content.decode()
    assert "connected to somebody else" in page
    assert SocialAccount.objects.get().user == alice


def test_disconnecting_ends_it(provider: Provider, alice: User) -> None:
    client = connect(alice, "microsoft")
    row = SocialAccount.objects.get()
    page = client.get("/account/connected/").content.decode()
    assert "lin@contoso.example" in page
    assert "Disconnect Microsoft?" in page
    client.post(f"/account/connected/{row.pk}/disconnect/")
    assert not SocialAccount.objects.exists()
    visitor = Client()
    through(visitor, "microsoft")
    assert not is_in(visitor)


def test_the_last_way_in_stays(provider: Provider) -> None:
    open_registration()
    client = Client()
    through(client, "weixin")
    row = SocialAccount.objects.get()
    page = client.post(f"/account/connected/{row.pk}/disconnect/", follow=True).content.decode()
    assert "Set a password first" in page
    assert SocialAccount.objects.filter(pk=row.pk).exists()


def test_nobody_disconnects_anothers(provider: Provider, alice: User) -> None:
    connect(alice, "weixin")
    with acting(platform()):
        bob = make_member(make_organisation(), "bob")
    row = SocialAccount.objects.get()
    assert signed_in(bob).post(f"/account/connected/{row.pk}/disconnect/").status_code == 404
    assert SocialAccount.objects.filter(pk=row.pk).exists()
