"""Webhooks whose receivers fail: repeated with growing pauses, left in time, switched off in the end."""

from datetime import timedelta

import pytest
from django.conf import LazySettings

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications import hook_outbox
from apps.notifications.choices import DeliveryState, HookFault
from apps.notifications.models import Notice, Webhook, WebhookAttempt, WebhookDelivery
from apps.notifications.webhooks import posting
from apps.tenants.models import Organisation, User
from tests.builders import platform
from tests.notifications.hooks import delivery, happen, hurry, make, send
from tests.notifications.servers import HELD_S, Receiver, http_server

S = DeliveryState


def test_a_refusal_is_tried_again_with_growing_pauses_and_the_same_id(
    lab: Organisation, alice: User, admin: Actor, receiver: Receiver
) -> None:
    make(admin, receiver)
    happen(lab, alice)
    receiver.status = 500
    for pause in hook_outbox.PAUSES_MIN:
        before = db_now()
        send()
        row = delivery()
        wait = (row.next_try_at - before).total_seconds() / 60
        assert row.state == S.QUEUED
        assert pause * 0.89 <= wait <= pause * 1.11 + 0.1
        hurry()
    receiver.status = 204
    assert send() == 1
    assert len({headers["Webhook-Id"] for _path, headers, _body in receiver.posts}) == 1
    with acting(platform()):
        assert WebhookAttempt.objects.count() == len(hook_outbox.PAUSES_MIN) + 1
        assert WebhookAttempt.objects.filter(status=500, fault=HookFault.STATUS).count() == len(hook_outbox.PAUSES_MIN)
        assert Webhook.objects.get().failing_since is None


def test_after_three_days_it_is_given_up_and_switched_off_with_a_notice(
    lab: Organisation, alice: User, admin: Actor, receiver: Receiver
) -> None:
    make(admin, receiver)
    happen(lab, alice)
    receiver.status = 503
    send()
    with acting(platform()):
        Webhook.objects.update(failing_since=db_now() - timedelta(days=3, minutes=1))
    hurry(give_up_at=db_now())
    send()
    assert delivery().state == S.GIVEN_UP
    with acting(platform()):
        assert not Webhook.objects.get().active
        assert Notice.objects.filter(kind="webhook.switched_off", user=alice).count() == 1


def test_gone_switches_it_off_at_once(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    make(admin, receiver)
    happen(lab, alice)
    receiver.status = 410
    send()
    with acting(platform()):
        assert not Webhook.objects.get().active


def test_a_redirect_is_not_followed(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    make(admin, receiver)
    happen(lab, alice)
    receiver.status, receiver.headers = 302, {"Location": receiver.url}
    assert send() == 0
    assert len(receiver.posts) == 1
    assert delivery().last_status == 302


def test_a_receiver_that_does_not_answer_is_left_in_time(
    lab: Organisation, alice: User, admin: Actor, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting.post_all, "__kwdefaults__", {"total_s": 0.3})
    with http_server(hanging=True) as server:
        settings.WEBHOOK_ALLOW = [f"127.0.0.1:{server.port}"]
        make(admin, server)
        happen(lab, alice)
        assert send() == 0
    with acting(platform()):
        attempt = WebhookAttempt.objects.get()
        assert (attempt.status, attempt.fault) == (None, HookFault.TIMEOUT)
        assert 250 <= attempt.milliseconds < HELD_S * 1000


def test_two_workers_do_not_post_the_same(lab: Organisation, alice: User, admin: Actor, receiver: Receiver) -> None:
    make(admin, receiver)
    happen(lab, alice)
    with acting(platform()):
        claimed = hook_outbox._claim(10)
        assert len(claimed) == 1
        assert hook_outbox._claim(10) == []
        WebhookDelivery.objects.update(lease_until=db_now() - timedelta(minutes=2))
        newer = hook_outbox._claim(10)
        answer = posting.Answer(200, HookFault.NONE, 5)
        assert not hook_outbox._settle(claimed[0], answer)
        assert hook_outbox._settle(newer[0], answer)
