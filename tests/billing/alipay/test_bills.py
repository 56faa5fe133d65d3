"""A bill is read whole or not at all: every way in which one can be cut, swapped, padded or forged."""

import io
import zipfile
from datetime import date, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.bill_choices import BillItemKind
from apps.billing.payments.alipay import numbers
from apps.billing.payments.alipay.client import OutcomeUnknown
from apps.billing.payments.reconciliation import bills
from apps.billing.payments.reconciliation import download as bill_download
from apps.billing.payments.reconciliation.bills import BillProblem
from tests.billing.alipay.bills import Row, bill, details, packed
from tests.billing.alipay.gateway import SELLER, Gateway

DAY = date(2026, 11, 21)
ROWS = (Row("PL1", 1234, fee=7), Row("PL1", 200, request="PL1R1", fee=-1), Row("other", 3580, subject="A, B, 大杯"))


def test_payments_refunds_and_fees_are_read_from_the_archive() -> None:
    read = bills.read(bill(DAY, *ROWS))
    assert (read.account, read.day) == (f"{SELLER}0156", DAY)
    first, second, third = read.lines
    assert (first.kind, first.out_trade_no, first.amount_fen, first.fee_fen) == ("payment", "PL1", 1234, 7)
    assert (second.kind, second.out_request_no, second.amount_fen, second.fee_fen) == ("refund", "PL1R1", 200, -1)
    assert (third.out_trade_no, third.amount_fen) == ("other", 3580)
    assert first.at.isoformat() == "2026-11-21T12:00:00+08:00"


def test_an_empty_bill_and_an_unpacked_one_are_bills_too() -> None:
    assert bills.read(bill(DAY)).lines == ()
    assert len(bills.read(details(DAY, ROWS).encode("gbk")).lines) == 3
    assert len(bills.read(details(DAY, ROWS).encode("utf-8-sig")).lines) == 3


def test_a_refund_without_a_request_of_ours_is_told_apart_by_its_time() -> None:
    text = details(DAY, [Row("PL1", 200, request="X")]).replace(",X\t,", ",\t,")
    assert bills.read(packed(text, DAY)).lines[0].out_request_no == "20261121120000"


GOOD = details(DAY, ROWS)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD[: GOOD.index("业务明细列表结束")], "cut_off"),
        (GOOD[: GOOD.index("#退款合计")], "cut_off"),
        (GOOD.replace("#交易合计：2笔", "#交易合计：3笔"), "sums"),
        (GOOD.replace("商家实收共48.14元", "商家实收共48.15元"), "sums"),
        (GOOD.replace("12.34,12.34", "12.34,99.34"), "sums"),
        (GOOD.replace("12.34,12.34", "12.345,12.34"), "line"),
        (GOOD.replace("12.34,12.34", "-12.34,12.34"), "line"),
        (GOOD.replace("2026-11-21 12:00:00", "gestern"), "line"),
        (GOOD.replace("*小明(138****01)\t,12.34,", ""), "line"),
        (GOOD.replace("服务费（元）", "费"), "heading"),
        (GOOD.replace("#账号", "#户名"), "heading"),
        (details(DAY, [ROWS[0], ROWS[0]]), "twice"),
    ],
)
def test_what_is_not_whole_is_refused(text: str, code: str) -> None:
    with pytest.raises(BillProblem) as refused:
        bills.read(packed(text, DAY))
    assert refused.value.code in (code, "no_details")
    with pytest.raises(BillProblem) as refused:
        bills.read(text.encode("gbk"))
    assert refused.value.code == code


def test_what_is_no_archive_or_no_bill_is_refused() -> None:
    for content, code in ((b"PK\x03\x04broken", "archive"), (b"", "heading"), (b"\xff\xfe\xff", "charset")):
        with pytest.raises(BillProblem) as refused:
            bills.read(content)
        assert refused.value.code == code
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", "1,2")
    with pytest.raises(BillProblem, match="no_details"):
        bills.read(buffer.getvalue())


def test_a_bomb_is_unpacked_only_as_far_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bills, "MOST_UNPACKED", 1 << 20)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * (5 << 20))
    assert len(buffer.getvalue()) < 20_000
    with pytest.raises(BillProblem, match="large"):
        bills.read(buffer.getvalue())
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for n in range(bills.MOST_MEMBERS + 1):
            archive.writestr(f"{n}.csv", "x")
    with pytest.raises(BillProblem, match="large"):
        bills.read(many.getvalue())


AMOUNTS = st.integers(min_value=1, max_value=10**9)


@given(st.lists(st.tuples(AMOUNTS, st.booleans(), st.integers(-500, 500)), max_size=20))
def test_every_bill_survives_the_way_there_and_back(wanted: list[tuple[int, bool, int]]) -> None:
    rows = [Row(f"PL{n}", fen, f"R{n}" if back else "", fee) for n, (fen, back, fee) in enumerate(wanted)]
    read = bills.read(bill(DAY, *rows))
    assert [(x.out_trade_no, x.amount_fen, x.kind is BillItemKind.REFUND, x.fee_fen) for x in read.lines] == [
        (row.number, row.fen, bool(row.request), row.fee) for row in rows
    ]


@given(st.uuids())
def test_an_orders_number_says_whose_it_is(organisation_id: UUID) -> None:
    from_uuid = numbers.order_number(organisation_id, datetime(2026, 11, 21, 12, 0, tzinfo=bills.CHINA))
    assert numbers.organisation_of(from_uuid) == organisation_id
    assert len(numbers.refund_number(from_uuid)) <= 64


@pytest.mark.parametrize("number", ["", "PL1", "PL20261121120000" + "z" * 25 + "0" * 12, "PL20261121120000abcdef01"])
def test_other_numbers_say_nothing(number: str) -> None:
    assert numbers.organisation_of(number) is None


def test_a_bill_is_fetched_only_from_where_one_may(server: Gateway) -> None:
    gateway = f"{server.url}/gateway.do"
    server.bills["2026-11-21"] = b"x"
    assert bill_download.fetch(f"{server.url}/bill/2026-11-21", gateway=gateway) == b"x"
    server.bills.clear()
    for url in (
        "http://example.com/bill",
        "https://127.0.0.1/bill",
        f"{server.url}/bill/none",
        "ftp://x",
        "file:///etc",
    ):
        with pytest.raises(OutcomeUnknown):
            bill_download.fetch(
                url, gateway=gateway, resolver=lambda host, port: [host if host[0].isdigit() else "10.0.0.1"]
            )


def test_a_bill_without_end_is_given_up(server: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bill_download, "MOST_BYTES", 1000)
    server.bills["2026-11-21"] = b"x" * 100_000
    with pytest.raises(OutcomeUnknown, match="too long"):
        bill_download.fetch(f"{server.url}/bill/2026-11-21", gateway=f"{server.url}/gateway.do")
    server.bills.clear()
