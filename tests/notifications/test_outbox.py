"""The outbox: written with what happened, sent once, tried again with patience, gathered when there is much."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db import transaction

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.notifications import outbox
from apps.notifications.choices import Channel, DeliveryState, Topic
from apps.notifications.gateways.base import Message, Outcome, Result, Unreachable
from apps.notifications.models import Delivery, Notice, Preference
from apps.notifications.outbox import AGAIN_AFTER, LEASE, send_due
from apps.notifications.services import notify_organisation, notify_people, notify_user
from apps.notifications.settings import MailSettings
from apps.tenants import settings
from apps.tenants.models import Membership, Organisation, User

S = DeliveryState


@dataclass
class FakeWay:
    """A way out that does as it is told."""

    result: Result = Result(Outcome.SENT)  # noqa: RUF009  frozen
    unreachable: bool = False
    sent: list[Message] = field(default_factory=list)

    def open(self) -> None:
        if self.unreachable:
            raise Unreachable("nobody there")

    def send(self, message: Message) -> Result:
        self.sent.append(message)
        return self.result

    def close(self) -> None:
        return


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> FakeWay:
    fake = FakeWay()
    monkeypatch.setattr(outbox, "gateway", lambda channel: fake)
    return fake


def tell(lab: Organisation, user: User, number: int = 1, kind: str = "run.finished") -> None:
    data = {"name": f"digits {number}", "seconds": 60}
    notify_user(organisation_id=lab.pk, user_id=user.pk, kind=kind, data=data)


def only() -> Delivery:
    delivery: Delivery = Delivery.objects.get()
    return delivery


def due_now() -> None:
    Delivery.objects.filter(state=S.QUEUED).update(next_try_at=db_now())


def html_of(sent: EmailMessage) -> str:
    assert isinstance(sent, EmailMultiAlternatives)
    html, kind = sent.alternatives[0]
    assert kind == "text/html"
    return str(html)


def test_a_notice_leaves_by_mail_in_words_with_a_link(system: Actor, lab: Organisation, bob: User) -> None:
    notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="environment.expired", data={"name": "lab one"})
    assert send_due(Channel.EMAIL) == 1
    sent = mail.outbox[0]
    assert sent.to == [bob.email]
    assert sent.subject == "[PLStack] lab one has expired"
    assert "renew it" in sent.body
    assert lab.name in sent.body
    assert "lab one has expired" in html_of(sent)
    assert only().state == S.SENT


def test_mails_speak_the_readers_language(system: Actor, lab: Organisation, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(language="zh-hans")
    tell(lab, bob)
    send_due(Channel.EMAIL)
    assert 'lang="zh-hans"' in html_of(mail.outbox[0])


def test_names_are_escaped_in_html_and_not_in_text(system: Actor, lab: Organisation, bob: User) -> None:
    notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="run.failed", data={"name": "<b>a & b</b>"})
    send_due(Channel.EMAIL)
    assert "<b>a & b</b>" in mail.outbox[0].body
    assert "<b>a" not in html_of(mail.outbox[0])


def test_a_line_break_in_a_name_makes_no_header(system: Actor, lab: Organisation, bob: User) -> None:
    notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="run.failed", data={"name": "a\r\nBcc: eve@example.com"})
    send_due(Channel.EMAIL)
    assert "\n" not in mail.outbox[0].subject
    assert only().state == S.SENT


def test_nothing_is_sent_twice(system: Actor, lab: Organisation, bob: User, way: FakeWay) -> None:
    tell(lab, bob)
    assert send_due(Channel.EMAIL) == 1
    due_now()
    assert send_due(Channel.EMAIL) == 0
    assert len(way.sent) == 1


def test_what_is_rolled_back_is_never_sent(system: Actor, lab: Organisation, bob: User) -> None:
    with transaction.atomic():
        tell(lab, bob)
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()
    assert not Notice.objects.exists()


def test_a_dedup_key_leaves_once(system: Actor, lab: Organisation, bob: User) -> None:
    for _each in range(3):
        notify_user(organisation_id=lab.pk, user_id=bob.pk, kind="run.failed", data={}, dedup="run:1")
    assert Notice.objects.count() == Delivery.objects.count() == 1


def test_a_server_that_is_away_is_tried_again_with_growing_pauses(
    system: Actor, lab: Organisation, bob: User, way: FakeWay
) -> None:
    tell(lab, bob)
    way.unreachable = True
    for number, pause in enumerate(AGAIN_AFTER, start=1):
        before = db_now()
        send_due(Channel.EMAIL)
        row = only()
        assert (row.state, row.attempts, row.error) == (S.QUEUED, number, "nobody there")
        assert timedelta(0) <= row.next_try_at - before - pause < timedelta(seconds=5)
        due_now()
    send_due(Channel.EMAIL)
    assert only().state == S.GIVEN_UP


def test_what_the_server_refuses_for_good_is_given_up_at_once(
    system: Actor, lab: Organisation, bob: User, way: FakeWay
) -> None:
    tell(lab, bob)
    way.result = Result(Outcome.REFUSED, "550 no such user")
    send_due(Channel.EMAIL)
    assert (only().state, only().error) == (S.GIVEN_UP, "550 no such user")


def test_an_answer_that_never_came_is_not_tried_again(
    system: Actor, lab: Organisation, bob: User, way: FakeWay
) -> None:
    tell(lab, bob)
    way.result = Result(Outcome.UNKNOWN, "timed out")
    send_due(Channel.EMAIL)
    due_now()
    send_due(Channel.EMAIL)
    assert only().state == S.UNKNOWN
    assert len(way.sent) == 1


def test_a_claim_whose_worker_died_before_sending_is_taken_up_again(
    system: Actor, lab: Organisation, bob: User, way: FakeWay
) -> None:
    tell(lab, bob)
    assert len(outbox._claim(Channel.EMAIL)) == 1
    assert send_due(Channel.EMAIL) == 0  # its lease still runs
    Delivery.objects.update(lease_until=db_now() - LEASE)
    assert send_due(Channel.EMAIL) == 1


def test_one_whose_worker_died_while_sending_is_not_repeated(
    system: Actor, lab: Organisation, bob: User, way: FakeWay
) -> None:
    tell(lab, bob)
    assert outbox._begin(outbox._claim(Channel.EMAIL))
    Delivery.objects.update(lease_until=db_now() - LEASE)
    assert send_due(Channel.EMAIL) == 0
    assert only().state == S.UNKNOWN


def test_an_older_claim_cannot_send_any_more(system: Actor, lab: Organisation, bob: User, way: FakeWay) -> None:
    tell(lab, bob)
    old = outbox._claim(Channel.EMAIL)
    Delivery.objects.update(lease_until=db_now() - LEASE)
    new = outbox._claim(Channel.EMAIL)
    assert not outbox._begin(old)
    assert outbox._begin(new)


def test_much_of_one_kind_waits_and_leaves_as_one(system: Actor, lab: Organisation, bob: User) -> None:
    settings.put(system, replace(settings.get(MailSettings), hourly_limit=2))
    for number in range(1, 6):
        tell(lab, bob, number)
    tell(lab, bob, 9, kind="run.failed")
    assert send_due(Channel.EMAIL) == 3  # two of one kind, one of the other
    assert Delivery.objects.filter(put_off=True, state=S.QUEUED).count() == 3
    Delivery.objects.filter(state=S.SENT).update(done_at=db_now() - timedelta(hours=2))
    due_now()
    assert send_due(Channel.EMAIL) == 1
    body = mail.outbox[-1].body
    assert all(f"digits {number} has finished" in body for number in (3, 4, 5))
    assert "and 2 more" in mail.outbox[-1].subject
    assert Delivery.objects.filter(state=S.SENT).count() == 6
    assert Delivery.objects.filter(digest__isnull=False).count() == 2


def test_a_kind_without_words_does_not_block_the_others(
    system: Actor, lab: Organisation, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(lab, bob)
    monkeypatch.setattr(outbox, "compose", lambda batch: 1 / 0)
    assert send_due(Channel.EMAIL) == 0
    assert (only().state, only().attempts) == (S.QUEUED, 1)  # tried again later: the next version may know the words
    assert only().next_try_at > db_now()


def test_people_choose_by_topic(system: Actor, lab: Organisation, bob: User) -> None:
    Preference.objects.create(user=bob, topic=Topic.RUNS, channel=Channel.EMAIL, on=False)
    tell(lab, bob)
    tell(lab, bob, kind="environment.expired")
    assert [row.kind for row in Delivery.objects.all()] == ["environment.expired"]
    assert Notice.objects.filter(user=bob).count() == 2


def test_admins_get_mails_about_money_whatever_they_chose(
    system: Actor, lab: Organisation, alice: User, bob: User
) -> None:
    for user in (alice, bob):
        Preference.objects.create(user=user, topic=Topic.MONEY, channel=Channel.EMAIL, on=False)
    notify_people(organisation_id=lab.pk, user_ids=[alice.pk, bob.pk], kind="billing.grace", data={})
    assert [row.user_id for row in Delivery.objects.all()] == [alice.pk]


def test_who_has_no_address_or_is_disabled_gets_nothing_sent(
    system: Actor, lab: Organisation, alice: User, bob: User
) -> None:
    User.objects.filter(pk=alice.pk).update(email="")
    User.objects.filter(pk=bob.pk).update(is_active=False)
    notify_people(organisation_id=lab.pk, user_ids=[alice.pk, bob.pk], kind="run.failed", data={})
    assert not Delivery.objects.exists()
    assert Notice.objects.count() == 2


def test_who_has_left_gets_nothing_sent(system: Actor, lab: Organisation, bob: User) -> None:
    Membership.objects.filter(user=bob).delete()
    tell(lab, bob)
    assert not Delivery.objects.exists()


def test_the_organisation_is_told_through_those_who_look_after_it(
    system: Actor, lab: Organisation, alice: User, bob: User
) -> None:
    notify_organisation(organisation_id=lab.pk, kind="billing.low", data={})
    assert [notice.user_id for notice in Notice.objects.all()] == [alice.pk]
