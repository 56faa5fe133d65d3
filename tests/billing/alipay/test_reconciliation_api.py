"""The same acts through the API."""

from datetime import date
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.billing.models import BillItem, TopUpRefund
from apps.billing.payments.settings import PaymentSettings
from apps.common.actor import Actor
from apps.tenants import settings
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from tests.billing.alipay.bills import Row, bill
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun
from tests.billing.alipay.test_reconciliation import row_of, take, yesterday
from tests.billing.alipay.test_refunds import paid
from tests.billing.alipay.test_replay import forget
from tests.billing.builders import PLATFORM, balance
from tests.builders import make_staff, signed_in

ROOT = "/api/v1/console/"


@pytest.fixture
def api(clerk: Actor) -> Client:
    return signed_in(User.objects.get(pk=clerk.person()))


def get(api: Client, path: str, **params: str) -> Any:
    answer = api.get(ROOT + path, params)
    assert answer.status_code == 200, answer.content
    return answer.json()


def post(api: Client, path: str, expected: int = 200, **data: object) -> Any:
    answer = api.post(ROOT + path, data, content_type="application/json")
    assert answer.status_code == expected, answer.content
    return answer.json()


def test_a_bill_is_sent_in_read_and_settled(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, api: Client, day: date
) -> None:
    kept, lost = paid(gateway, treasurer, 500), begun(treasurer, gateway, 700)
    gateway.pay(lost.out_trade_no)
    yesterday(day)
    forget(lost)
    content = bill(
        day, row_of(kept, gateway, fee=3), row_of(lost, gateway, trade="2026T2"), Row("PL-nobody", 9, trade="x")
    )
    for expected in (201, 200):
        file = SimpleUploadedFile("bill.zip", content)
        sent = api.post(f"{ROOT}reconciliation/days/{day}/bills/", {"bill": file})
        assert (sent.status_code, sent.json()["state"]) == (expected, "differs")
    listed = get(api, "reconciliation/days/")["results"]
    assert [(x["day"], x["theirs_fen"], x["ours_fen"], x["open"]) for x in listed] == [(str(day), 1209, 500, 2)]
    waiting = get(api, "reconciliation/items/", open="true", day=str(day))["results"]
    assert {x["out_trade_no"] for x in waiting} == {lost.out_trade_no, "PL-nobody"}
    ids = {x["out_trade_no"]: x["id"] for x in waiting}
    item, other = (f"reconciliation/items/{ids[number]}/" for number in (lost.out_trade_no, "PL-nobody"))
    assert post(api, f"{item}ask/") == {"status": "TRADE_SUCCESS", "fen": 700}
    for _turn in range(2):
        assert post(api, f"{item}credit/")["outcome"] == "matched"
    assert balance(lab) == 1200
    assert post(api, f"reconciliation/days/{day}/credit/") == {"credited": 0, "left": 1}
    post(api, f"{other}credit/", 409)
    assert post(api, f"{other}close/", note="A test of Alipay's.")["open"] is False
    post(api, f"{other}close/", 409, note="Again.")
    assert get(api, f"reconciliation/days/{day}/")["state"] == "agrees"
    assert post(api, f"reconciliation/days/{day}/fetch/", 202)["next_try_at"] is not None
    assert api.get(f"{ROOT}reconciliation/days/yesterday/").status_code == 404


def test_refunds_by_the_api(gateway: Gateway, lab: Organisation, treasurer: Actor, api: Client) -> None:
    settings.put(PLATFORM, PaymentSettings(alone_fen=500))
    order = paid(gateway, treasurer, 1000)
    path = f"recharges/{order.transfer_id}/refunds/"
    made = post(api, path, 201, amount_fen=300, reason="Ordered twice.")
    assert (made["status"], balance(lab)) == ("asked", 700)
    assert post(api, f"refunds/{made['out_request_no']}/ask/")["status"] == "done"
    assert post(api, path, 202, amount_fen=501, reason="All of it.")["kind"] == "refund"
    post(api, path, 409, amount_fen=701, reason="More than there is.")
    post(api, path, 400, amount_fen=0, reason="Nothing.")
    assert [x["amount_fen"] for x in get(api, path)["results"]] == [300]
    assert (TopUpRefund.objects.count(), balance(lab)) == (1, 700)


def test_others_are_refused(gateway: Gateway, treasurer: Actor, clerk: Actor, day: date) -> None:
    take(clerk, day, Row("PL-nobody", 9))
    item = BillItem.objects.get()
    for client in (signed_in(make_staff(PlatformRole.OPS)), signed_in(User.objects.get(pk=treasurer.person()))):
        assert client.get(f"{ROOT}reconciliation/items/").status_code in (403, 404)
        answer = client.post(
            f"{ROOT}reconciliation/items/{item.pk}/close/", {"note": "x"}, content_type="application/json"
        )
        assert answer.status_code in (403, 404)
    item.refresh_from_db()
    assert item.is_open
