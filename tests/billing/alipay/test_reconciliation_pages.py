"""The pages on which finance staff compare, credit, close and give back."""

from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillState
from apps.billing.choices import RefundStatus, RequestState
from apps.billing.models import BillDay, BillItem, RechargeRequest, TopUpOrder, TopUpRefund
from apps.billing.payments import recharge_review
from apps.billing.payments.alipay import refunds
from apps.billing.payments.settings import PaymentSettings
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants import settings
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from tests.billing.alipay.bills import Row, bill
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun
from tests.billing.alipay.test_reconciliation import row_of, take, yesterday
from tests.billing.alipay.test_refunds import asked, paid
from tests.billing.alipay.test_replay import forget
from tests.billing.builders import PLATFORM, balance
from tests.builders import make_staff, signed_in


@pytest.fixture
def desk(clerk: Actor) -> Client:
    """The clerk's browser, who has given the password a moment ago."""
    user = User.objects.get(pk=clerk.person())
    user.set_password("correct-horse-9")
    user.save()
    client = signed_in(user)
    confirm(client)
    return client


def confirm(client: Client) -> None:
    assert client.post(reverse("account_reauthenticate"), {"password": "correct-horse-9"}).status_code == 302


def text(client: Client, name: str, *args: object) -> str:
    page = client.get(reverse(f"console:{name}", args=args))
    assert page.status_code == 200, page.status_code
    return page.content.decode()


def press(client: Client, name: str, *args: object, **data: object) -> str:
    page = client.post(reverse(f"console:{name}", args=args), data, follow=True)
    return page.content.decode()


def test_from_the_list_to_the_day_to_the_payment_to_the_credit(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, desk: Client, day: date
) -> None:
    assert "Nothing to compare yet" in text(desk, "reconciliation")
    kept, lost = paid(gateway, treasurer, 500), begun(treasurer, gateway, 700)
    gateway.pay(lost.out_trade_no)
    yesterday(day)
    forget(lost)
    take(clerk, day, row_of(kept, gateway, fee=3), row_of(lost, gateway, trade="2026T2"), Row("T-strange", 100))
    overview = text(desk, "reconciliation")
    assert lost.out_trade_no in overview
    assert "Does not match" in overview
    page = text(desk, "reconciliation_day", day)
    for words in ("¥12.00", "¥5.00", "¥7.00", "¥0.03", "1 line of another system", lost.out_trade_no):
        assert words in page, words
    tabbed = desk.get(reverse("console:reconciliation_day", args=[day]), {"tab": "matched"}).content.decode()
    assert (kept.out_trade_no in tabbed, lost.out_trade_no in tabbed) == (True, False)
    assert '<input type="hidden" name="tab" value="matched"' in tabbed
    item = BillItem.objects.get(out_trade_no=lost.out_trade_no)
    assert "Credit it…" in text(desk, "reconciliation_item", item.pk)
    assert "Alipay says: TRADE_SUCCESS, ¥7.00." in press(desk, "reconciliation_act", item.pk, "ask")
    assert "Credit ¥7.00 to" in text(desk, "reconciliation_act", item.pk, "credit")
    for _window in range(2):
        assert "¥7.00 are in the wallet." in press(desk, "reconciliation_act", item.pk, "credit")
    assert balance(lab) == 1200
    assert "Credit it…" not in text(desk, "reconciliation_item", item.pk)
    assert BillDay.objects.get().state == BillState.AGREES


def test_a_payment_that_names_nobody_is_credited_to_whom_staff_name(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, desk: Client, day: date
) -> None:
    lost = begun(treasurer, gateway, 700)
    gateway.deals["PL20260101000000abcdef"] = gateway.deals[lost.out_trade_no]
    gateway.deals["PL20260101000000abcdef"].status = "TRADE_SUCCESS"
    take(clerk, day, Row("PL20260101000000abcdef", 700))
    item = BillItem.objects.get()
    assert "Whose payment is it?" in text(desk, "reconciliation_item", item.pk)
    assert "Whose payment is it?" in press(desk, "reconciliation_act", item.pk, "credit")
    press(desk, "reconciliation_act", item.pk, "credit", organisation=lab.name)
    assert balance(lab) == 700


def test_a_whole_day_is_credited_and_a_rest_is_closed_with_a_note(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, desk: Client, day: date
) -> None:
    lost = begun(treasurer, gateway, 700)
    gateway.pay(lost.out_trade_no)
    forget(lost)
    take(clerk, day, row_of(lost, gateway), Row("PL-nobody", 300, trade="x"))
    assert "Credit 2 payments?" in text(desk, "reconciliation_credit", day)
    assert "Credited: 1. Still open: 1." in press(desk, "reconciliation_credit", day)
    left = BillItem.objects.exclude(outcome=BillOutcome.MATCHED).get()
    assert desk.post(reverse("console:reconciliation_close", args=[left.pk]), {"note": ""}).status_code == 422
    assert "Closed with a note" in press(desk, "reconciliation_close", left.pk, note="A test of Alipay's own.")
    again = desk.post(reverse("console:reconciliation_close", args=[left.pk]), {"note": "x"})
    assert (again.status_code, "settled already" in again.content.decode()) == (422, True)
    assert BillDay.objects.get().state == BillState.AGREES


def test_a_bill_is_uploaded_kept_and_given_out_again(
    gateway: Gateway, treasurer: Actor, desk: Client, day: date
) -> None:
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    content = bill(day, row_of(order, gateway))

    def sent(file: bytes) -> str:
        return press(desk, "reconciliation_upload", day, bill=SimpleUploadedFile("bill.zip", file))

    assert "Upload the bill of" in text(desk, "reconciliation_upload", day)
    assert "This is no bill" in sent(b"hello")
    assert "This archive cannot be read." in sent(b"PK\x03\x04")
    assert "The bill was compared." in sent(content)
    assert "This bill was here already" in sent(content)
    stored = BillDay.objects.get().bill
    assert stored is not None
    answer = desk.get(reverse("console:reconciliation_bill", args=[stored.pk]))
    assert (answer.content, answer["Content-Disposition"]) == (content, f'attachment; filename="alipay-{day}.zip"')
    press(desk, "reconciliation_fetch", day)
    assert "The bill is being fetched" in text(desk, "reconciliation_day", day)


def test_a_refund_asks_who_is_there_leaves_the_wallet_and_arrives(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, desk: Client
) -> None:
    order = paid(gateway, treasurer, 1000)
    assert order.transfer is not None
    url = reverse("console:recharge_refund", args=[order.transfer.pk])
    stranger = signed_in(User.objects.get(pk=clerk.person()))  # a session that was left open
    assert reverse("account_reauthenticate") in stranger.post(url, {"amount": "1.00"})["Location"]
    assert "At most" in text(desk, "recharge_refund", order.transfer.pk)
    given = {"amount": "4.00", "reason": "Ordered twice.", "key": "7e6f7a2e-0000-4000-8000-000000000001"}
    for _press in range(2):
        assert "Under way" in press(desk, "recharge_refund", order.transfer.pk, **given)
    assert (balance(lab), TopUpRefund.objects.count()) == (600, 1)
    too_much = desk.post(url, {**given, "amount": "6.01", "key": "7e6f7a2e-0000-4000-8000-000000000002"})
    assert (too_much.status_code, "At most ¥6.00" in too_much.content.decode()) == (422, True)
    refund = TopUpRefund.objects.get()
    gateway.faults = ["unreachable"]
    assert "does not answer yet" in press(desk, "recharge_refund_ask", refund.out_request_no)
    assert "Alipay has given it back." in press(desk, "recharge_refund_ask", refund.out_request_no)
    assert gateway.deals[order.out_trade_no].refunds == {refund.out_request_no: 400}
    assert "Given back" in text(desk, "recharge", order.transfer.pk)
    assert desk.get(reverse("console:recharges")).status_code == 200


def test_a_large_refund_needs_a_second_person(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, desk: Client
) -> None:
    settings.put(PLATFORM, PaymentSettings(alone_fen=300))
    order = paid(gateway, treasurer, 1000)
    assert order.transfer is not None
    given = {"amount": "4.00", "reason": "Ordered twice.", "key": "7e6f7a2e-0000-4000-8000-000000000001"}
    for _press in range(2):
        assert "waits for a second person" in press(desk, "recharge_refund", order.transfer.pk, **given)
    request = RechargeRequest.objects.get()
    assert "Give ¥4.00 back" in text(desk, "recharge_request", request.pk)
    assert balance(lab) == 1000
    with pytest.raises(Conflict):
        recharge_review.approve(clerk, request_id=request.pk)
    second = platform_actor(make_staff(PlatformRole.FINANCE))
    approved = recharge_review.approve(second, request_id=request.pk)
    refund = TopUpRefund.objects.get()
    assert (approved.state, approved.transfer, balance(lab)) == (RequestState.APPROVED, refund.transfer, 600)
    assert refunds.carry_out(second, refund).status == RefundStatus.DONE
    with pytest.raises(Conflict):
        recharge_review.approve(second, request_id=request.pk)


def test_who_may_only_look_sees_no_button_and_moves_nothing(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 500)
    asked(clerk, order, 100)
    yesterday(day)
    gateway.deals[order.out_trade_no].refunds["R-lost"] = 100
    take(clerk, day, row_of(order, gateway), row_of(order, gateway, fen=100, request="R-lost"))
    item = BillItem.objects.get(kind=BillItemKind.REFUND)
    for role, seen in ((PlatformRole.OPS, 403), (PlatformRole.BUSINESS, 403)):
        client = signed_in(make_staff(role))
        assert client.get(reverse("console:reconciliation")).status_code == seen
        assert client.post(reverse("console:reconciliation_act", args=[item.pk, "take-out"])).status_code == seen
        assert client.post(reverse("console:recharge_refund", args=[order.transfer_id])).status_code == seen
    assert balance(lab) == 400
    assert TopUpOrder.objects.get().refunded_fen == 100


def test_taking_a_refund_out_of_a_wallet_asks_once_more_who_it_is(
    gateway: Gateway, lab: Organisation, treasurer: Actor, clerk: Actor, day: date
) -> None:
    order = paid(gateway, treasurer, 500)
    yesterday(day)
    gateway.deals[order.out_trade_no].refunds["by-hand"] = 100
    take(clerk, day, row_of(order, gateway), row_of(order, gateway, fen=100, request="by-hand"))
    item = BillItem.objects.get(kind=BillItemKind.REFUND)
    user = User.objects.get(pk=clerk.person())
    user.set_password("correct-horse-9")
    user.save()
    client, path = signed_in(user), reverse("console:reconciliation_act", args=[item.pk, "take-out"])
    assert "Take it out" in client.get(path).content.decode()
    asked_first = client.post(path)
    assert asked_first.status_code == 302
    assert asked_first["Location"].startswith(reverse("account_reauthenticate"))
    assert balance(lab) == 500
    confirm(client)
    assert "the money has left the wallet" in press(client, "reconciliation_act", item.pk, "take-out")
    assert balance(lab) == 400


def test_a_bill_of_any_day_can_be_uploaded_before_there_is_a_day(
    gateway: Gateway, treasurer: Actor, desk: Client, day: date
) -> None:
    kept = paid(gateway, treasurer, 500)
    yesterday(day)
    upload = reverse("console:reconciliation_upload_any")
    assert upload in text(desk, "reconciliation")
    assert f'value="{day}"' in text(desk, "reconciliation_upload_any")

    def send(of: str) -> tuple[int, str]:
        file = SimpleUploadedFile("bill.zip", bill(day, row_of(kept, gateway)))
        page = desk.post(upload, {"day": of, "bill": file}, follow=True)
        return page.status_code, page.content.decode()

    assert send("2999-01-01")[0] == 422
    assert send("")[0] == 422
    assert not BillItem.objects.exists()
    code, page = send(day.isoformat())
    assert (code, "The bill was compared." in page) == (200, True)
    assert BillItem.objects.get().outcome == BillOutcome.MATCHED
