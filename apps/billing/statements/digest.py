"""The seal of an issued statement: SHA-256 over its canonical text, which anybody can reproduce."""

import hashlib
import json
from decimal import Decimal

from apps.billing.models import Statement, StatementLine

# A change of what the text holds gets a new number, so that older seals can still be checked.
VERSION = 1


def canonical(statement: Statement) -> str:
    """One line for the head and one for each line, JSON with sorted keys; amounts as plain decimals without zeros."""
    rows = StatementLine.objects.filter(statement=statement).order_by("position")
    return "\n".join(_text(row) for row in [_head(statement), *map(_line, rows)])


def digest_of(statement: Statement) -> str:
    return hashlib.sha256(canonical(statement).encode()).hexdigest()


def is_intact(statement: Statement) -> bool:
    """Whether an issued statement still says what was sealed."""
    return bool(statement.digest) and digest_of(statement) == statement.digest


def _head(statement: Statement) -> dict[str, object]:
    return {
        "version": VERSION,
        "number": statement.number,
        "organisation": str(statement.organisation_id),
        "period": statement.period,
        "opening_fen": statement.opening_fen,
        "closing_fen": statement.closing_fen,
        "exact_fen": _plain(statement.exact_fen),
        "total_fen": statement.total_fen,
        "cash_fen": statement.cash_fen,
        "voucher_fen": statement.voucher_fen,
        "recognised_fen": statement.recognised_fen,
        "received_fen": statement.received_fen,
    }


def _line(line: StatementLine) -> dict[str, object]:
    return {
        "position": line.position,
        "section": line.section,
        "kind": line.kind,
        "usage_period": line.usage_period,
        "price_version": line.price_version_id,
        "label_en": line.label_en,
        "label_zh": line.label_zh,
        "price_number": line.price_number,
        "rate_fen_per_hour": None if line.rate_fen_per_hour is None else _plain(line.rate_fen_per_hour),
        "discount": _plain(line.discount),
        "count": line.count,
        "seconds": _plain(line.seconds),
        "amount_fen": _plain(line.amount_fen),
    }


def _plain(number: Decimal) -> str:
    """The same text for equal numbers, however many places a column keeps."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _text(row: dict[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
