"""Account → Notifications: what is sent is one's own choice, within limits; a phone counts once it is proved."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.notifications.models import Phone, Preference
from apps.notifications.services import phones
from apps.notifications.settings import SmsSettings
from apps.tenants import settings as store
from apps.tenants.models import Organisation, User
from tests.builders import make_staff, make_user, platform, signed_in
from tests.notifications.servers import Receiver, http_server

pytestmark = pytest.mark.django_db

PAGE = "/notifications/preferences/"
CODE, CONFIRM, REMOVE = f"{PAGE}phone/", f"{PAGE}phone/confirm/", f"{PAGE}phone/remove/"
API = "/api/v1/notices/"
NUMBER = "+8613800138000"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """The SMS gateway, set up."""
    with http_server() as server:
        with acting(platform()) as staff:
            store.put(staff, SmsSettings(on=True, url=server.url))
        yield server


def text_of(response: Any) -> str:
    return str(response.content.decode())


def sent_code(receiver: Receiver) -> str:
    found = re.search(r"\b(\d{6})\b", json.loads(receiver.posts[-1][2])["text"])
    assert found is not None
    return found[1]


def ask(client: Client, number: str = NUMBER) -> Any:
    return client.post(CODE, {"number": number})


def wait_a_minute() -> None:
    Phone.objects.update(code_sent_at=db_now() - timedelta(minutes=2))


def test_what_is_not_ticked_is_not_sent(bob: User) -> None:
    client = signed_in(bob)
    client.post(PAGE, {"on": ["money.email", "runs.sms", "nonsense", "runs.fax"]})
    wanted = {(row.topic, row.channel): row.on for row in Preference.objects.filter(user=bob)}
    assert wanted["runs", "email"] is False
    assert wanted["runs", "sms"] is True
    assert ("money", "email") not in wanted  # as by default
    page = text_of(client.get(PAGE))
    assert re.search(r'value="money.email"[^>]*checked', page)
    assert not re.search(r'value="runs.email"[^>]*checked', page)
    with acting(platform()):
        entry = Entry.objects.get(action="user.notices_chosen")
    assert entry.after["runs.email"] is False


def test_admins_cannot_switch_off_money_and_security(alice: User) -> None:
    client = signed_in(alice)
    client.post(PAGE, {"on": []})
    page = text_of(client.get(PAGE))
    for topic in ("money", "security"):
        assert re.search(rf'value="{topic}.email"[^>]*checked[^>]*disabled', page)
    assert not re.search(r'value="runs.email"[^>]*checked', page)


def test_only_staff_are_asked_about_the_platform(bob: User) -> None:
    assert "Operation of the platform" not in text_of(signed_in(bob).get(PAGE))
    with acting(platform()):
        staff = make_staff()
    assert "Operation of the platform" in text_of(signed_in(staff).get(PAGE))


def test_people_without_an_organisation_choose_as_well() -> None:
    with acting(platform()):
        loner = make_user("loner")
    assert signed_in(loner).get(PAGE).status_code == 200


def test_without_a_gateway_nothing_speaks_of_sms(bob: User) -> None:
    client = signed_in(bob)
    assert "SMS" not in text_of(client.get(PAGE))
    answer = ask(client)
    assert answer.status_code == 422
    assert not Phone.objects.filter(user=bob).exists()


def test_a_number_is_proved_by_the_code_sent_there(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client, "138 0013 8000")
    assert json.loads(receiver.posts[0][2])["phone"] == NUMBER
    assert "A code was sent to +8613800138000" in text_of(client.get(PAGE))
    client.post(CONFIRM, {"code": sent_code(receiver)})
    bob.refresh_from_db()
    phone = Phone.objects.get(user=bob)
    assert (phone.number, bob.phone, phone.code_hash) == (NUMBER, NUMBER, "")
    with acting(platform()):
        entry = Entry.objects.get(action="user.phone_proved")
    assert entry.after == {"phone": "+86…00"}


def test_a_code_works_once(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client)
    code = sent_code(receiver)
    assert client.post(CONFIRM, {"code": code}).status_code == 302
    assert client.post(CONFIRM, {"code": code}).status_code == 422


def test_wrong_codes_are_counted(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client)
    code = sent_code(receiver)
    wrong = "000000" if code != "000000" else "111111"
    for _each in range(phones.TRIES):
        assert client.post(CONFIRM, {"code": wrong}).status_code == 422
    assert client.post(CONFIRM, {"code": code}).status_code == 422
    assert Phone.objects.get(user=bob).verified_at is None


def test_a_code_is_good_for_minutes(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client)
    Phone.objects.update(code_sent_at=db_now() - timedelta(minutes=11))
    assert client.post(CONFIRM, {"code": sent_code(receiver)}).status_code == 422


def test_codes_are_not_for_bombing(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client)
    assert "A code was sent a moment ago" in text_of(ask(client))
    for _each in range(phones.CODES_A_DAY - 1):
        wait_a_minute()
        assert ask(client).status_code == 302
    wait_a_minute()
    assert "No more codes are sent today" in text_of(ask(client))
    assert len(receiver.posts) == phones.CODES_A_DAY
    with acting(platform()):
        eve = make_user("eve")
    assert "No more codes are sent today" in text_of(ask(signed_in(eve)))  # the same number from elsewhere


@pytest.mark.parametrize("number", ["", "12345", "+0123456789", "+86 138 0013 800x", "110", "+1" * 30])
def test_what_is_no_number_is_said(bob: User, receiver: Receiver, number: str) -> None:
    assert ask(signed_in(bob), number).status_code == 422
    assert not receiver.posts


def test_a_gateway_that_refuses_is_told_of(bob: User, receiver: Receiver) -> None:
    receiver.status = 400
    assert "The code could not be sent" in text_of(ask(signed_in(bob)))


def test_the_old_number_stays_until_the_new_one_is_proved(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    ask(client)
    client.post(CONFIRM, {"code": sent_code(receiver)})
    wait_a_minute()
    ask(client, "+4915112345678")
    phone = Phone.objects.get(user=bob)
    assert (phone.number, phone.wanted) == (NUMBER, "+4915112345678")
    client.post(REMOVE)
    phone.refresh_from_db()
    bob.refresh_from_db()
    assert (phone.number, phone.verified_at, bob.phone) == ("", None, "")


def test_the_service_says_which_field_is_wrong(bob: User, receiver: Receiver) -> None:
    actor = Actor(user_id=bob.pk, label="Bob", organisation_id=None)
    with pytest.raises(Invalid) as refused:
        phones.confirm(actor, code="123456")
    assert "code" in refused.value.fields


def test_the_api_reads_and_changes_choices(lab: Organisation, alice: User) -> None:
    client = signed_in(alice)
    rows = client.get(f"{API}preferences/").json()
    assert {"topic": "money", "channel": "email", "on": True, "fixed": True} in rows
    change = [
        {"topic": "runs", "channel": "email", "on": False},
        {"topic": "money", "channel": "email", "on": False},
    ]
    after = client.patch(f"{API}preferences/", change, content_type="application/json").json()
    assert {"topic": "runs", "channel": "email", "on": False, "fixed": False} in after
    assert {"topic": "money", "channel": "email", "on": True, "fixed": True} in after
    assert {"topic": "storage", "channel": "email", "on": True, "fixed": False} in after
    bad = client.patch(f"{API}preferences/", [{"topic": "x"}], content_type="application/json")
    assert bad.status_code == 400


def test_the_api_proves_a_phone(bob: User, receiver: Receiver) -> None:
    client = signed_in(bob)
    assert client.get(f"{API}phone/").json() == {"number": "", "waiting_for": "", "verified_at": None}
    asked = client.post(f"{API}phone/", {"number": NUMBER}, content_type="application/json")
    assert asked.json()["waiting_for"] == NUMBER
    wrong = client.post(f"{API}phone/confirm/", {"code": "1"}, content_type="application/json")
    assert (wrong.status_code, list(wrong.json()["fields"])) == (400, ["code"])
    good = client.post(f"{API}phone/confirm/", {"code": sent_code(receiver)}, content_type="application/json")
    assert good.json()["number"] == NUMBER
    assert client.delete(f"{API}phone/").json()["number"] == ""
