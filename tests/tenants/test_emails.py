"""E-mail addresses: proven by a link, for the address that the account has now; changes are told to the former."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants import emails
from apps.tenants.models import User
from tests.builders import PASSWORD, make_member, make_organisation, platform, signed_in

pytestmark = pytest.mark.django_db
ASK = "/account/confirm-email/"


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def link_in(text: str) -> str:
    found = re.search(r"https?://[^/]+(/accounts/confirm-email/\S+/)", text)
    assert found is not None, text
    return found[1]


def rename(client: Client, user: User, email: str) -> None:
    client.post("/account/", {"name": user.name, "email": email, "language": ""})


def test_the_link_proves_the_address_when_its_owner_agrees(alice: User) -> None:
    client = signed_in(alice)
    assert "Not confirmed" in client.get("/account/").content.decode()
    client.post(ASK)
    assert mail.outbox[-1].to == [alice.email]
    link = link_in(str(mail.outbox[-1].body))
    visitor = Client()
    assert alice.email in visitor.get(link).content.decode()
    assert not emails.is_confirmed(alice)  # looking at it, as mail scanners do, proves nothing
    visitor.post(link)
    assert emails.is_confirmed(alice)
    assert "Confirmed" in client.get("/account/").content.decode()
    with acting(platform()):
        assert Entry.objects.filter(action="user.email_confirmed", target_id=str(alice.pk)).count() == 1


def test_a_link_to_a_former_address_proves_nothing(alice: User) -> None:
    client = signed_in(alice)
    client.post(ASK)
    link = link_in(str(mail.outbox[-1].body))
    rename(client, alice, "new@example.com")
    answer = Client().post(link)
    assert answer.status_code == 404
    assert "no longer works" in Client().get(link).content.decode()
    alice.refresh_from_db()
    assert alice.email == "new@example.com"
    assert not emails.is_confirmed(alice)


def test_a_changed_address_has_to_be_proven_anew(alice: User) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    assert emails.is_confirmed(alice)
    rename(signed_in(alice), alice, "new@example.com")
    alice.refresh_from_db()
    assert not emails.is_confirmed(alice)


def test_a_change_is_told_to_the_former_address(alice: User) -> None:
    client, former = signed_in(alice), alice.email
    rename(client, alice, "new@example.com")
    assert [message.to for message in mail.outbox] == [[former]]
    assert alice.username in mail.outbox[0].body
    client.patch("/api/v1/me/", {"email": "newer@example.com"}, content_type="application/json")
    assert mail.outbox[-1].to == ["new@example.com"]
    count = len(mail.outbox)
    rename(client, alice, "newer@example.com")
    assert len(mail.outbox) == count


def test_links_are_limited(alice: User, settings: LazySettings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"confirm_email": "2/10m/key"}
    client = signed_in(alice)
    for _try in range(3):
        answer = client.post(ASK, follow=True)
    assert len(mail.outbox) == 2
    assert "wait ten minutes" in answer.content.decode()


def test_without_an_address_there_is_nothing_to_prove(alice: User) -> None:
    client = signed_in(alice)
    rename(client, alice, "")
    mail.outbox.clear()
    assert "Give an e-mail address first" in client.post(ASK, follow=True).content.decode()
    assert mail.outbox == []


def test_a_mail_server_that_is_down_does_not_undo_the_change(alice: User, settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = "tests.tenants.test_emails.Down"
    client = signed_in(alice)
    rename(client, alice, "new@example.com")
    alice.refresh_from_db()
    assert alice.email == "new@example.com"


class Down:
    """A mail backend that refuses everything."""

    def __init__(self, *args: object, **options: object) -> None:
        pass

    def send_messages(self, messages: object) -> int:
        raise ConnectionRefusedError


def test_every_change_of_how_one_signs_in_is_told_by_mail(alice: User) -> None:
    client = Client()
    client.post("/accounts/login/", {"login": alice.username, "password": PASSWORD})
    new = {"oldpassword": PASSWORD, "password1": "another-horse-42", "password2": "another-horse-42"}
    client.post("/accounts/password/change/", new)
    assert mail.outbox[-1].to == [alice.email]
    assert "password" in mail.outbox[-1].body
    assert "127.0.0.1" in mail.outbox[-1].body


def test_the_librarys_page_of_several_addresses_is_not_offered(alice: User) -> None:
    client = signed_in(alice)
    assert client.get("/accounts/email/")["Location"] == "/account/"
    client.post("/accounts/email/", {"action_add": "", "email": "second@example.com"})
    assert not EmailAddress.objects.filter(email="second@example.com").exists()
