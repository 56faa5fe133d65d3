"""Every payment by Alipay in the console: found, shown with what Alipay told and its bill says, asked about again."""

from datetime import date

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from apps.billing.choices import NoticeOutcome, TopUpStatus
from apps.billing.exports.lists import exported_list
from apps.billing.models import TopUpNotice, TopUpOrder
from apps.billing.payments.alipay import orders
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from tests.billing.alipay.gateway import Gateway
from tests.billing.alipay.test_orders import begun, tell
from tests.billing.alipay.test_reconciliation import row_of, take, yesterday
from tests.billing.alipay.test_refunds import paid
from tests.billing.builders import balance
from tests.builders import make_staff, signed_in

LIST = reverse("console:alipay_payments")
API = "/api/v1/console/alipay-payments/"


@pytest.fixture
def desk(clerk: Actor) -> Client:
    return signed_in(User.objects.get(pk=clerk.person()))


def page_of(order: TopUpOrder) -> str:
    return reverse("console:alipay_payment", args=[order.out_trade_no])


def shown(client: Client, **query: str) -> list[str]:
    """The order numbers that the list shows, in its order."""
    page = client.get(LIST, query)
    assert page.status_code == 200
    return [row.record.out_trade_no for row in page.context["table"].page.object_list]


def test_the_list_finds_by_number_person_state_and_day(gateway: Gateway, treasurer: Actor, desk: Client) -> None:
    done, waiting = paid(gateway, treasurer, 500), begun(treasurer, gateway, 700)
    person = User.objects.get(pk=treasurer.person())
    assert shown(desk) == [waiting.out_trade_no, done.out_trade_no]
    assert shown(desk, q=done.trade_no) == [done.out_trade_no]
    assert shown(desk, q=person.username) == [waiting.out_trade_no, done.out_trade_no]
    assert shown(desk, status="open") == [waiting.out_trade_no]
    assert shown(desk, organisation="of nobody") == []
    assert shown(desk, until="2000-01-01") == []
    assert "1 paid: ¥5.00, of which ¥0.00 were given back." in desk.get(LIST).content.decode()


def test_what_reconciliation_says_stands_beside_each_and_is_a_filter(
    gateway: Gateway, treasurer: Actor, clerk: Actor, desk: Client, day: date
) -> None:
    agrees, missing = paid(gateway, treasurer, 500), paid(gateway, treasurer, 600)
    yesterday(day)
    take(clerk, day, row_of(agrees, gateway))
    later = begun(treasurer, gateway, 700)
    assert shown(desk, outcome="matched") == [agrees.out_trade_no]
    assert shown(desk, outcome="ours_only") == [missing.out_trade_no]
    assert shown(desk, outcome="none") == [later.out_trade_no]
    page = desk.get(page_of(agrees)).content.decode()
    assert "Alipay's bill ¥5.00, our books ¥5.00" in page


def test_only_what_is_paid_waits_for_its_bill(gateway: Gateway, treasurer: Actor, desk: Client) -> None:
    done, waiting = paid(gateway, treasurer, 500), begun(treasurer, gateway, 700)
    rows = desk.get(LIST).context["table"].rows
    words = {row.record.out_trade_no: strip_tags(row.get_cell("outcome")).strip() for row in rows}
    assert words == {done.out_trade_no: "Not compared yet", waiting.out_trade_no: "—"}


def test_each_notice_is_kept_once_and_counted(gateway: Gateway, treasurer: Actor, desk: Client) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    assert tell(gateway, order, notify_id="n-1")
    assert not tell(gateway, order, notify_id="n-1")
    assert not tell(gateway, order, notify_id="n-2", trade_status="TRADE_FINISHED")
    kept = [(each.notify_id, each.outcome, each.heard) for each in TopUpNotice.objects.order_by("pk")]
    assert kept == [("n-1", NoticeOutcome.CREDITED, 2), ("n-2", NoticeOutcome.NOTHING, 1)]
    page = desk.get(page_of(order)).content.decode()
    assert "TRADE_SUCCESS · n-1" in page
    assert "heard 2 times" in page


def test_a_notice_about_another_amount_is_kept_and_credits_nothing(
    gateway: Gateway, lab: Organisation, treasurer: Actor
) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    with pytest.raises(orders.Mismatch):
        tell(gateway, order, total_amount="99.99")
    assert TopUpNotice.objects.get().outcome == NoticeOutcome.OTHER_AMOUNT
    assert balance(lab) == 0


def test_asking_again_credits_what_alipay_confirms_once(
    gateway: Gateway, lab: Organisation, treasurer: Actor, desk: Client
) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    ask = reverse("console:alipay_payment_ask", args=[order.out_trade_no])
    for _window in range(2):
        assert "Alipay says: TRADE_SUCCESS, ¥12.34." in desk.post(ask, follow=True).content.decode()
    assert balance(lab) == 1234
    order.refresh_from_db()
    assert order.status == TopUpStatus.PAID


def test_without_an_answer_nothing_changes_and_the_clerk_is_told(
    gateway: Gateway, lab: Organisation, treasurer: Actor, desk: Client
) -> None:
    order = begun(treasurer, gateway)
    gateway.pay(order.out_trade_no)
    gateway.faults = ["unreachable"]
    said = desk.post(reverse("console:alipay_payment_ask", args=[order.out_trade_no]), follow=True).content.decode()
    assert "Alipay does not answer now." in said
    assert balance(lab) == 0


@pytest.mark.parametrize(
    ("role", "code"), [(PlatformRole.FINANCE, 200), (PlatformRole.SUPER, 200), (PlatformRole.BUSINESS, 403)]
)
def test_finance_and_administrators_alone_may_look(
    role: PlatformRole, code: int, gateway: Gateway, treasurer: Actor
) -> None:
    order = begun(treasurer, gateway)
    client = signed_in(make_staff(role))
    for address in (LIST, page_of(order), API, f"{API}{order.out_trade_no}/"):
        assert client.get(address).status_code == code, address
    asked = client.post(f"{API}{order.out_trade_no}/ask/")
    assert asked.status_code == code


def test_the_api_has_the_same_rows(gateway: Gateway, treasurer: Actor, desk: Client) -> None:
    order = paid(gateway, treasurer, 500)
    begun(treasurer, gateway, 700)
    (row,) = desk.get(API, {"status": "paid"}).json()["results"]
    assert (row["out_trade_no"], row["amount_fen"], row["outcome"]) == (order.out_trade_no, 500, None)
    full = desk.get(f"{API}{order.out_trade_no}/").json()
    assert (full["recharge"], full["compared"]) == (order.transfer_id, [])
    assert [notice["outcome"] for notice in full["notices"]] == ["credited"]


def test_the_file_has_the_rows_of_the_filters(gateway: Gateway, treasurer: Actor, clerk: Actor) -> None:
    order = paid(gateway, treasurer, 500)
    begun(treasurer, gateway, 700)
    listed = exported_list("alipay_payments")
    with acting(clerk):
        (row,) = listed.narrowed(clerk, "status=paid")
        cells = listed.cells(row)
    assert len(cells) == len(listed.columns)
    assert cells[0] == order.organisation.name
    assert order.out_trade_no in cells
