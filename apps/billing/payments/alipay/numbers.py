"""The numbers of payments and refunds at Alipay.

An order's number carries the organisation: Alipay's bill gives back nothing else of ours, and a payment must find its
wallet even where the row of the order is lost, as after the restore of a backup. 64 signs at most: letters, digits, _.
"""

import hashlib
import re
import secrets
from datetime import datetime
from uuid import UUID

PREFIX = "PL"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_WIDTH = 25  # of 128 bits in base 36
_ORDER = re.compile(r"PL\d{14}([0-9a-z]{25})[0-9a-f]{12}", re.ASCII)


def order_number(organisation_id: UUID, at: datetime) -> str:
    return f"{PREFIX}{at:%Y%m%d%H%M%S}{_base36(organisation_id.int)}{secrets.token_hex(6)}"


def refund_number(out_trade_no: str, key: str = "") -> str:
    """A new one each time; with a `key` always the same."""
    return f"{out_trade_no}R{hashlib.sha256(key.encode()).hexdigest()[:8] if key else secrets.token_hex(4)}"


def is_ours(out_trade_no: str) -> bool:
    """Whether this platform has given the number; other systems may share the merchant's account."""
    return out_trade_no.startswith(PREFIX)


def organisation_of(out_trade_no: str) -> UUID | None:
    """The organisation that a number belongs to; None for a number that is not ours."""
    found = _ORDER.fullmatch(out_trade_no)
    number = int(found[1], 36) if found else 1 << 128
    return UUID(int=number) if number < 1 << 128 else None


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return digits.rjust(_WIDTH, "0")
