"""Mail and SMS against servers on the loopback that speak the real protocols."""

import hashlib
import hmac
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.conf import LazySettings
from django.core.mail import send_mail
from PIL import Image

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.notifications import pictures
from apps.notifications.branding import BrandingSettings
from apps.notifications.choices import Channel
from apps.notifications.gateways.base import Message, Outcome, Unreachable
from apps.notifications.gateways.mail import ChosenBackend, MailGateway, connection_for
from apps.notifications.gateways.sms import HttpSmsGateway
from apps.notifications.models import Delivery, Phone
from apps.notifications.outbox import send_due
from apps.notifications.services import notify_user
from apps.notifications.settings import BodyFormat, MailSecurity, MailSettings, SmsSettings
from apps.tenants import settings as store
from apps.tenants.models import Organisation, User
from tests.notifications.servers import MailBox, Receiver, http_server, smtp_server

CHOSEN = "apps.notifications.gateways.mail.ChosenBackend"
MESSAGE = Message(to="bob@example.com", subject="Hello", text="Text 文字", html="<p>Text</p>", key="k1")
SMS = Message(to="+8613800138000", subject="", text='Say "hi" & 好', key="k2")


@pytest.fixture
def box() -> Iterator[MailBox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_server() as server:
        yield server


def mail_settings(box: MailBox, **changes: Any) -> MailSettings:
    chosen = MailSettings(
        host="127.0.0.1", port=box.port, security=MailSecurity.NONE, from_address="gpu@lab.example", from_name="GPU 组"
    )
    return replace(chosen, **changes)


def send(chosen: MailSettings) -> Any:
    way = MailGateway(chosen, connection_for(chosen))
    way.open()
    try:
        return way.send(MESSAGE)
    finally:
        way.close()


def test_a_mail_arrives_with_both_bodies_and_its_own_id(box: MailBox) -> None:
    assert send(mail_settings(box)).outcome is Outcome.SENT
    mail = box.mails[0]
    assert (mail["To"], mail["Subject"], mail["Message-ID"]) == ("bob@example.com", "Hello", "<k1@lab.example>")
    assert "GPU 组" in mail["From"]
    assert mail["Auto-Submitted"] == "auto-generated"
    assert {part.get_content_type() for part in mail.walk()} >= {"text/plain", "text/html"}


@pytest.mark.parametrize(
    ("command", "answer", "outcome"),
    [
        ("RCPT", "550 no such user", Outcome.REFUSED),
        ("RCPT", "451 greylisted", Outcome.LATER),
        ("MAIL", "421 too busy", Outcome.LATER),
        ("BODY", "554 looks like spam", Outcome.REFUSED),
        ("BODY", "452 disk full", Outcome.LATER),
        ("BODY", "", Outcome.UNKNOWN),
    ],
)
def test_what_the_server_answers_decides(box: MailBox, command: str, answer: str, outcome: Outcome) -> None:
    box.answers[command] = answer
    result = send(mail_settings(box))
    assert result.outcome is outcome
    assert answer[4:] in result.detail


def test_a_wrong_password_is_told_before_anything_is_handed_over(box: MailBox) -> None:
    box.answers["AUTH"] = "535 wrong password"
    chosen = mail_settings(box, username="gpu", password="guess")
    with pytest.raises(Unreachable, match="wrong password"):
        MailGateway(chosen, connection_for(chosen)).open()
    assert not box.mails


def test_a_server_that_is_not_there_is_unreachable() -> None:
    chosen = MailSettings(host="127.0.0.1", port=9, security=MailSecurity.NONE, from_address="a@b.example")
    with pytest.raises(Unreachable):
        MailGateway(chosen, connection_for(chosen)).open()


def test_all_mail_of_the_site_follows_the_settings_of_the_moment(
    system: Actor, box: MailBox, settings_file_mail: None
) -> None:
    store.put(system, mail_settings(box))
    send_mail("Password", "A link", None, ["bob@example.com"])
    assert box.mails[0]["From"] == "GPU 组 <gpu@lab.example>"


@pytest.fixture
def media(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def settings_file_mail(settings: LazySettings) -> None:
    settings.EMAIL_BACKEND = CHOSEN


def test_without_settings_the_environment_decides(system: Actor, settings_file_mail: None) -> None:
    assert type(ChosenBackend().inner).__module__ == "apps.notifications.gateways.mail"


def test_a_notice_goes_through_the_whole_house(
    system: Actor, lab: Organisation, bob: User, box: MailBox, settings_file_mail: None
) -> None:
    store.put(system, mail_settings(box))
    notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="run.failed", data={"name": "digits"})
    assert send_due(Channel.EMAIL) == 1
    assert box.mails[0]["Subject"] == "[PLStack] digits has failed"
    assert str(Delivery.objects.get().pk) in box.mails[0]["Message-ID"]


def test_mails_carry_the_installations_logo_and_name(
    system: Actor,
    lab: Organisation,
    bob: User,
    box: MailBox,
    settings_file_mail: None,
    settings: LazySettings,
    tmp_path: Path,
) -> None:
    settings.MEDIA_ROOT = tmp_path
    out = io.BytesIO()
    Image.new("RGB", (64, 64), "teal").save(out, "PNG")
    store.put(system, BrandingSettings(portal_name="Campus GPU", portal_logo=pictures.store_picture(out.getvalue())))
    store.put(system, mail_settings(box))
    notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="run.failed", data={"name": "digits"})
    send_due(Channel.EMAIL)
    mail = box.mails[0]
    assert mail["Subject"] == "[Campus GPU] digits has failed"
    parts = {part.get_content_type(): part for part in mail.walk()}
    assert parts["image/png"]["Content-ID"] == "<logo>"
    assert "cid:logo" in parts["text/html"].get_content()


def sms_settings(receiver: Receiver, **changes: Any) -> SmsSettings:
    return replace(SmsSettings(on=True, url=receiver.url, body="to: {phone}\nmsg: {text}\nid: {key}"), **changes)


def test_an_sms_is_posted_as_json(receiver: Receiver) -> None:
    assert HttpSmsGateway(sms_settings(receiver)).send(SMS).outcome is Outcome.SENT
    path, headers, body = receiver.posts[0]
    assert path == "/hook?x=1"
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {"to": "+8613800138000", "msg": 'Say "hi" & 好', "id": "k2"}


def test_an_sms_is_posted_as_a_form_with_key_and_signature(receiver: Receiver) -> None:
    chosen = sms_settings(
        receiver,
        format=BodyFormat.FORM,
        headers="X-App: plstack",
        authorization="Bearer sesame",
        signature_header="X-Signature",
        signing_key="key",
    )
    assert HttpSmsGateway(chosen).send(SMS).outcome is Outcome.SENT
    _path, headers, body = receiver.posts[0]
    assert parse_qs(body.decode()) == {"to": ["+8613800138000"], "msg": ['Say "hi" & 好'], "id": ["k2"]}
    assert (headers["X-App"], headers["Authorization"]) == ("plstack", "Bearer sesame")
    assert headers["X-Signature"] == hmac.new(b"key", body, hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b'{"code":"OK"}', Outcome.SENT),
        (200, b'{"code":"isv.BALANCE"}', Outcome.REFUSED),
        (400, b"bad number", Outcome.REFUSED),
        (302, b"", Outcome.REFUSED),
        (429, b"slow down", Outcome.LATER),
        (503, b"down", Outcome.LATER),
    ],
)
def test_the_gateways_answer_decides(receiver: Receiver, status: int, body: bytes, outcome: Outcome) -> None:
    receiver.status, receiver.body, receiver.headers = status, body, {"Location": receiver.url}
    result = HttpSmsGateway(sms_settings(receiver, success='"OK"')).send(SMS)
    assert result.outcome is outcome
    assert len(receiver.posts) == 1  # a redirect is not followed
    assert str(status) in result.detail


def test_a_gateway_that_is_not_there_is_tried_later() -> None:
    chosen = SmsSettings(on=True, url="http://127.0.0.1:9/")
    assert HttpSmsGateway(chosen).send(SMS).outcome is Outcome.LATER


def test_sms_need_a_gateway_a_proved_number_and_the_wish(
    system: Actor, lab: Organisation, bob: User, receiver: Receiver
) -> None:
    told: dict[str, Any] = {
        "organisation_id": lab.pk,
        "user_id": bob.pk,
        "kind": "environment.expired",
        "data": {"name": "one"},
    }
    store.put(system, sms_settings(receiver))
    notify_user(**told)
    assert not Delivery.objects.filter(channel=Channel.SMS).exists()
    bob.notice_preferences.create(topic="environments", channel=Channel.SMS, on=True)
    notify_user(**told)
    assert not Delivery.objects.filter(channel=Channel.SMS).exists()
    Phone.objects.create(user=bob, number="+8613800138000", verified_at=db_now())
    notify_user(**told)
    assert send_due(Channel.SMS) == 1
    assert json.loads(receiver.posts[0][2])["msg"].startswith("[PLStack] one has expired. ")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"host": "mail.example.org/x"}, "host"),
        ({"host": "mail", "port": 0}, "port"),
        ({"host": "mail"}, "from_address"),
        ({"from_address": "nobody"}, "from_address"),
        ({"from_name": "a\r\nBcc: x"}, "from_name"),
        ({"site_url": "javascript:alert(1)"}, "site_url"),
        ({"site_url": "https://a.example/path"}, "site_url"),
        ({"hourly_limit": 0}, "hourly_limit"),
        ({"username": "u", "security": MailSecurity.NONE}, "security"),
    ],
)
def test_mail_settings_that_cannot_work_are_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        MailSettings(**values).validate()
    assert field in refused.value.fields


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"on": True}, "url"),
        ({"url": "ftp://x"}, "url"),
        ({"body": "no colon"}, "body"),
        ({"on": True, "url": "https://x.example", "body": "to: {phone}"}, "body"),
        ({"headers": "X App: 1"}, "headers"),
        ({"signature_header": "X:Y"}, "signature_header"),
        ({"hourly_limit": 101}, "hourly_limit"),
    ],
)
def test_sms_settings_that_cannot_work_are_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        SmsSettings(**values).validate()
    assert field in refused.value.fields


def test_secrets_of_both_are_sealed() -> None:
    assert "sesame" not in repr(MailSettings(password="sesame"))
    assert "sesame" not in repr(SmsSettings(authorization="sesame", signing_key="sesame"))
