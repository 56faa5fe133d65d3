"""One payment told many times at once: one credit, and one answer that says it was this one."""

import json
import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client

from apps.billing.models import Transfer
from apps.common.scoping import acting
from tests.builders import make_organisation, make_staff, platform, signed_in

AT_ONCE = 16
RECHARGES = "/api/v1/console/recharges/"


def at_once(client: Client, bodies: list[dict[str, Any]], **headers: str) -> list[Any]:
    answers: list[Any] = []
    gate = threading.Barrier(len(bodies))

    def send(body: dict[str, Any]) -> None:
        gate.wait()
        own = Client()
        own.cookies = client.cookies
        try:
            answers.append(own.post(RECHARGES, json.dumps(body), content_type="application/json", headers=headers))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("amount_fen", [1_000, 90_000_000])
def test_one_reference_is_one_recharge_and_one_201(amount_fen: int) -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    body = {"organisation_id": str(organisation.pk), "amount_fen": amount_fen, "reference": "slip 7"}
    answers = at_once(signed_in(staff), [body] * AT_ONCE)
    codes = sorted(answer.status_code for answer in answers)
    if amount_fen > 1_000:  # more than one person may move: a request
        assert codes == [202] * AT_ONCE
    else:
        assert codes == [200] * (AT_ONCE - 1) + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    with acting(platform()):
        assert Transfer.objects.filter(organisation=organisation, ref="slip 7").count() == (amount_fen == 1_000)


@pytest.mark.django_db(transaction=True)
def test_other_amounts_at_the_same_time_are_conflicts() -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    bodies = [
        {"organisation_id": str(organisation.pk), "amount_fen": 1_000 + n, "reference": "slip 8"} for n in range(8)
    ]
    assert sorted(answer.status_code for answer in at_once(signed_in(staff), bodies)) == [201] + [409] * 7


@pytest.mark.django_db(transaction=True)
def test_one_key_is_one_answer() -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    body = {"organisation_id": str(organisation.pk), "amount_fen": 1_000, "reference": "slip 9"}
    answers = at_once(signed_in(staff), [body] * 8, **{"Idempotency-Key": uuid4().hex})
    assert {answer.status_code for answer in answers} == {201}
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
