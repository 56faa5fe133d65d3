"""Webhooks: told once per event, signed by the Standard Webhooks scheme, patient, and never led into the house."""

import base64
import hashlib
import hmac
import json

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.choices import DeliveryState, HookFault
from apps.notifications.models import Webhook, WebhookAttempt
from apps.notifications.services import notify_organisation, webhooks
from apps.notifications.services.webhooks import HookSpec
from apps.notifications.webhooks.signing import signature
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.builders import actor_of, make_member, make_organisation, platform
from tests.notifications.hooks import delivery, happen, make, send
from tests.notifications.servers import Receiver

S = DeliveryState


def test_an_event_arrives_signed(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    _hook, secret = make(admin, receiver)
    happen(lab, alice)
    assert send() == 1
    path, headers, body = receiver.posts[0]
    told = json.loads(body)
    assert path == "/hook?x=1"
    assert (told["type"], told["organisation"], told["data"]) == ("run.finished", str(lab.pk), {"name": "digits"})
    # As https://www.standardwebhooks.com says a receiver does it.
    signed = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert headers["Webhook-Signature"] == "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert delivery().state == S.SENT


def test_the_published_example_of_the_scheme_is_signed_as_it_says() -> None:
    # From the reference libraries of Standard Webhooks (test vector of "sign").
    made = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_only_the_kinds_that_were_chosen_are_told(
    lab: Organisation, alice: User, admin: Actor, receiver: Receiver
) -> None:
    make(admin, receiver, "run.failed")
    happen(lab, alice, "run.finished")
    happen(lab, alice, "security.password_reset")
    assert send() == 0
    happen(lab, alice, "run.failed")
    assert send() == 1


def test_an_event_told_to_many_people_or_many_times_is_one(
    lab: Organisation, alice: User, bob: User, admin: Actor, receiver: Receiver
) -> None:
    make(admin, receiver)
    for user in (alice, bob, alice):
        happen(lab, user, dedup="run:1")
    notify_organisation(organisation_id=lab.pk, kind="billing.low", data={})
    assert send() == 2
    assert len(receiver.posts) == 2


def test_other_organisations_hear_nothing(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    make(admin, receiver)
    with acting(platform()):
        other = make_organisation(balance_fen=0)
        charlie = make_member(other, "charlie")
        happen(other, charlie)
    assert send() == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8000/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "https://user:pass@example.org/",
        "file:///etc/passwd",
        "http://exa mple.org/",
        "",
    ],
)
def test_addresses_inside_the_house_are_refused_when_typed(admin: Actor, url: str) -> None:
    with pytest.raises(Invalid) as refused:
        webhooks.create(admin, HookSpec("ci", url))
    assert "url" in refused.value.fields


def test_an_address_that_turns_inwards_later_is_refused_when_sent(
    lab: Organisation, alice: User, admin: Actor, receiver: Receiver, settings: LazySettings
) -> None:
    make(admin, receiver)
    happen(lab, alice)
    settings.WEBHOOK_ALLOW = []
    send()
    assert not receiver.posts
    with acting(platform()):
        assert WebhookAttempt.objects.get().fault == HookFault.ADDRESS


def test_while_the_secret_changes_both_sign(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    hook, old = make(admin, receiver)
    _hook, new = webhooks.rotate(admin, hook.pk)
    happen(lab, alice)
    send()
    _path, headers, body = receiver.posts[0]
    expected = [
        signature(each, message_id=headers["Webhook-Id"], timestamp=int(headers["Webhook-Timestamp"]), body=body)
        for each in (new, old)
    ]
    assert headers["Webhook-Signature"].split() == expected
    with acting(platform()):
        Webhook.objects.update(old_secret_until=db_now())
    happen(lab, alice)
    send()
    assert len(receiver.posts[1][1]["Webhook-Signature"].split()) == 1


def test_secrets_stand_sealed_and_never_in_the_log(admin: Actor, receiver: Receiver) -> None:
    hook, secret = make(admin, receiver)
    webhooks.rotate(admin, hook.pk)
    hook.refresh_from_db()
    assert secret.encode() not in bytes(hook.secret) + bytes(hook.old_secret or b"")
    with acting(platform()):
        log = Entry.objects.filter(target_type="webhook")
        assert {entry.action for entry in log} == {"webhook.created", "webhook.secret_changed"}
        assert all(secret not in json.dumps([entry.before, entry.after]) for entry in log)


def test_while_it_is_off_nothing_new_is_told(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    hook, _secret = make(admin, receiver)
    happen(lab, alice)
    webhooks.switch(admin, hook.pk, on=False)
    happen(lab, alice)
    assert send() == 0
    webhooks.switch(admin, hook.pk, on=True)
    assert send() == 1


def test_an_event_is_delivered_again_under_its_own_id(
    lab: Organisation, alice: User, admin: Actor, receiver: Receiver
) -> None:
    make(admin, receiver)
    happen(lab, alice)
    send()
    webhooks.redeliver(admin, delivery().pk)
    assert send() == 1
    first, second = (headers["Webhook-Id"] for _path, headers, _body in receiver.posts)
    assert first == second


def test_a_test_is_sent_and_not_in_a_row(admin: Actor, receiver: Receiver) -> None:
    hook, _secret = make(admin, receiver)
    webhooks.send_test(admin, hook.pk)
    assert send() == 1
    assert json.loads(receiver.posts[0][2])["type"] == "test"
    with pytest.raises(Conflict):
        webhooks.send_test(admin, hook.pk)


def test_members_and_strangers_cannot(lab: Organisation, admin: Actor, bob: User, receiver: Receiver) -> None:
    hook, _secret = make(admin, receiver)
    member = actor_of(bob, lab)
    with acting(member), pytest.raises(Denied):
        webhooks.delete(member, hook.pk)
    with acting(platform()):
        other = make_organisation(balance_fen=0)
        charlie = make_member(other, "charlie", Role.ADMIN)
        stranger = actor_of(charlie, other)
    with acting(stranger):
        for act in (webhooks.delete, webhooks.rotate, webhooks.find, webhooks.send_test):
            with pytest.raises(NotFound):
                act(stranger, hook.pk)


def test_names_are_given_once_and_changes_are_logged(admin: Actor, receiver: Receiver) -> None:
    hook, _secret = make(admin, receiver)
    with pytest.raises(Invalid) as refused:
        make(admin, receiver)
    assert "name" in refused.value.fields
    webhooks.change(admin, hook.pk, HookSpec("build", receiver.url, ("run.failed",)))
    with acting(platform()):
        entry = Entry.objects.get(action="webhook.changed")
    assert (entry.before["name"], entry.after["name"]) == ("ci", "build")
