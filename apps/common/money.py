"""Money is integer fen; rates are Decimal fen per hour. No float ever touches either."""

import re
from decimal import ROUND_FLOOR, Decimal

FEN_PER_YUAN = 100
# Exact amounts keep ten places, as the ledger's numeric columns do.
EXACT = Decimal("1e-10")
_AMOUNT = re.compile(r"(?P<sign>-?)¥?(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<rest>[0-9]{1,2}))?")


def yuan(fen: int) -> str:
    """`¥1,234.56` for 123456 fen; a minus sign stands before the currency sign."""
    sign = "-" if fen < 0 else ""
    whole, rest = divmod(abs(fen), FEN_PER_YUAN)
    return f"{sign}¥{whole:,}.{rest:02d}"


def yuan_rate(fen_per_hour: Decimal) -> str:
    """`¥7.80/h`; up to four places where the rate has fractions of a fen."""
    value = (fen_per_hour / FEN_PER_YUAN).quantize(Decimal("0.0001")).normalize()
    places = max(2, -int(value.as_tuple().exponent))
    return f"¥{value:,.{places}f}/h"


def parse_yuan(text: str) -> int:
    """Fen for `"1,234.56"`, `"12.5"` or `"¥12"`; ValueError for anything else.

    A comma only stands between thousands: who types "1,5" means one and a half, and must not get fifteen.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    fen = int(found["whole"].replace(",", "")) * FEN_PER_YUAN + int((found["rest"] or "").ljust(2, "0"))
    return -fen if found["sign"] else fen


def whole_fen(amount: Decimal) -> int:
    """Round down: what is left over is carried, never charged early."""
    return int(amount.to_integral_value(rounding=ROUND_FLOOR))
