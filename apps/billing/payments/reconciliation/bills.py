"""Alipay's bill of one day (业务明细), read as it comes: a zip of two files in GBK, Chinese columns, `#` lines around.

https://opendocs.alipay.com/open/028woc: the details and a summary are two members of the archive; values end in a tab;
refunds are below zero; counts and sums follow the list, and are checked against it here.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from apps.billing.bill_choices import BillItemKind
from apps.billing.payments.alipay.amounts import fen_of

CHINA = ZoneInfo("Asia/Shanghai")
MOST_MEMBERS = 8
MOST_UNPACKED = 200 << 20
MOST_LINES = 500_000
HEADING = "支付宝交易号"
ACCOUNT = re.compile(r"#账号：\[(\d{16,24})\]")
DAY = re.compile(r"#起始日期：\[(\d{4})年(\d{2})月(\d{2})日")
END = "业务明细列表结束"
COUNTED = {
    BillItemKind.PAYMENT: re.compile(r"#交易合计：(\d+)笔，商家实收共(-?[\d.]+)元"),
    BillItemKind.REFUND: re.compile(r"#退款合计：(\d+)笔，商家实收退款共(-?[\d.]+)元"),
}
KINDS = {"交易": BillItemKind.PAYMENT, "退款": BillItemKind.REFUND}
SUBJECT = 3  # the column that may itself contain commas
COLUMNS = (
    HEADING,
    "商户订单号",
    "业务类型",
    "完成时间",
    "订单金额（元）",
    "商家实收（元）",
    "退款批次号/请求号",
    "服务费（元）",
)


class BillProblem(Exception):
    """Not a bill that can be used; `code` is one of `archive`, `large`, `no_details`, `charset`, `heading`, `line`,
    `twice`, `cut_off`, `sums`. `line` counts from one, 0 where it is about the whole.
    """

    def __init__(self, code: str, line: int = 0) -> None:
        super().__init__(f"{code} {line}" if line else code)
        self.code = code
        self.line = line


@dataclass(frozen=True, slots=True)
class Line:
    """One payment or refund. Amounts in fen: `amount_fen` and `received_fen` above zero; `fee_fen` is what Alipay kept,
    below zero where it gave a fee back.
    """

    kind: BillItemKind
    trade_no: str
    out_trade_no: str
    out_request_no: str
    amount_fen: int
    received_fen: int
    fee_fen: int
    at: datetime

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.kind.value, self.out_trade_no, self.out_request_no)


@dataclass(frozen=True, slots=True)
class Bill:
    """`account` is the merchant's number as Alipay writes it there: the seller's id and four digits more."""

    account: str
    day: date
    lines: tuple[Line, ...]


def read(content: bytes) -> Bill:
    """Raises `BillProblem`."""
    text = _details(content)
    rows = text.splitlines()
    account, day = ACCOUNT.search(text), DAY.search(text)
    if account is None or day is None:
        raise BillProblem("heading")
    if not any(END in row for row in rows):
        raise BillProblem("cut_off")
    lines = tuple(_lines(rows))
    _check_sums(lines, text)
    return Bill(account[1], date(int(day[1]), int(day[2]), int(day[3])), lines)


def _details(content: bytes) -> str:
    """The list of payments in an archive; also accepts the bare file, for uploads of unpacked bills."""
    if not content.startswith(b"PK"):
        if len(content) > MOST_UNPACKED:
            raise BillProblem("large")
        return _decoded(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for text in _members(archive):
                if HEADING in text:
                    return text
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise BillProblem("archive") from error
    raise BillProblem("no_details")


def _members(archive: zipfile.ZipFile) -> Iterable[str]:
    """The texts inside. Sizes that an archive states are not trusted: unpacking stops at the limit."""
    members = [each for each in archive.infolist() if not each.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise BillProblem("large")
    left = MOST_UNPACKED
    for member in members:
        with archive.open(member) as file:
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise BillProblem("large")
        yield _decoded(content)


def _decoded(content: bytes) -> str:
    for charset in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(charset)
        except UnicodeDecodeError:
            continue
    raise BillProblem("charset")


def _lines(rows: list[str]) -> Iterable[Line]:
    columns: list[str] = []
    seen: set[tuple[str, str, str]] = set()
    for number, row in enumerate(rows, 1):
        if number > MOST_LINES:
            raise BillProblem("large")
        if row.startswith("#") or not row.strip():
            continue
        values = [value.strip() for value in next(csv.reader([row]))]
        if not columns:
            columns = _columns(values)
            continue
        line = _line(columns, values, number)
        if line is None:
            continue
        if line.key in seen:
            raise BillProblem("twice", number)
        seen.add(line.key)
        yield line


def _columns(values: list[str]) -> list[str]:
    if any(name not in values for name in COLUMNS):
        raise BillProblem("heading")
    return values


def _line(columns: list[str], values: list[str], number: int) -> Line | None:
    """A row; None for kinds that move no money of a payment (there are none today)."""
    surplus = len(values) - len(columns)
    if surplus > 0:
        values = [
            *values[:SUBJECT],
            ",".join(values[SUBJECT : SUBJECT + surplus + 1]),
            *values[SUBJECT + surplus + 1 :],
        ]
    if len(values) != len(columns):
        raise BillProblem("line", number)
    row = dict(zip(columns, values, strict=True))
    kind = KINDS.get(row["业务类型"])
    if kind is None:
        return None
    try:
        return _read(kind, row)
    except ValueError as error:
        raise BillProblem("line", number) from error


def _read(kind: BillItemKind, row: Mapping[str, str]) -> Line:
    sign = -1 if kind is BillItemKind.REFUND else 1
    amount = sign * signed_fen(row["订单金额（元）"])
    at = datetime.strptime(row["完成时间"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=CHINA)
    if amount <= 0 or not row[HEADING] or not row["商户订单号"]:
        raise ValueError("no payment")
    # A refund that was made in Alipay's own pages may bear no number of a request.
    number = row["退款批次号/请求号"] or number_by_time(at)
    return Line(
        kind=kind,
        trade_no=row[HEADING],
        out_trade_no=row["商户订单号"],
        out_request_no=number if kind is BillItemKind.REFUND else "",
        amount_fen=amount,
        received_fen=sign * signed_fen(row["商家实收（元）"]),
        fee_fen=-signed_fen(row["服务费（元）"]),
        at=at,
    )


def number_by_time(at: datetime) -> str:
    """Identifies a refund without a number of its own among those of its payment."""
    return f"{at.astimezone(CHINA):%Y%m%d%H%M%S}"


def _check_sums(lines: Iterable[Line], text: str) -> None:
    """Check the number and sum of what was read against those that the bill states."""
    found = list(lines)
    for kind, pattern in COUNTED.items():
        said = pattern.search(text)
        if said is None:
            raise BillProblem("cut_off")
        mine = [line.received_fen for line in found if line.kind is kind]
        try:
            total = abs(signed_fen(said[2]))
        except ValueError as error:
            raise BillProblem("sums") from error
        if (len(mine), sum(mine)) != (int(said[1]), total):
            raise BillProblem("sums")


def signed_fen(yuan: str) -> int:
    """-7 for `"-0.07"`; raises ValueError for what is no plain amount."""
    return -fen_of(yuan[1:]) if yuan.startswith("-") else fen_of(yuan)
