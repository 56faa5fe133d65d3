"""Several workers at one outbox: each message leaves once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest
from django.db import connection

from apps.common.scoping import acting
from apps.notifications import outbox
from apps.notifications.choices import Channel, DeliveryState
from apps.notifications.gateways.base import Message, Outcome, Result
from apps.notifications.models import Delivery
from apps.notifications.services import notify_user
from tests.builders import make_member, make_organisation, platform

WORKERS, NOTICES = 4, 12


class CountingWay:
    """Notes every message that is handed over."""

    def __init__(self) -> None:
        self.lock, self.keys = Lock(), list[str]()

    def open(self) -> None:
        return

    def send(self, message: Message) -> Result:
        with self.lock:
            self.keys.append(message.key)
        return Result(Outcome.SENT)

    def close(self) -> None:
        return


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_send_each_message_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(platform()):
        lab = make_organisation(balance_fen=0)
        bob = make_member(lab, "bob")
        for number in range(NOTICES):
            notify_user(organisation_id=lab.pk, user_id=bob.pk, kind=f"run.kind-{number}", data={})
    monkeypatch.setattr(outbox, "BUDGET_S", 600.0)  # nobody goes before there is nothing left
    way, start = CountingWay(), Barrier(WORKERS)
    monkeypatch.setattr(outbox, "gateway", lambda channel: way)

    def work(_number: int) -> int:
        start.wait()
        try:
            with acting(platform()):
                return outbox.send_due(Channel.EMAIL)
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        sent = sum(pool.map(work, range(WORKERS)))
    assert sent == len(way.keys) == len(set(way.keys)) == NOTICES
    with acting(platform()):
        assert Delivery.objects.filter(state=DeliveryState.SENT).count() == NOTICES
