"""Money is integer fen; rates are Decimal fen per hour. No float ever touches either."""

from decimal import ROUND_FLOOR, Decimal

FEN_PER_YUAN = 100
SECONDS_PER_HOUR = Decimal(3600)
# Exact amounts keep ten places, as the ledger's numeric columns do.
EXACT = Decimal("1e-10")


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
    """Fen for `"1,234.56"` or `"¥12"`; ValueError for anything with more than two places or not a number."""
    cleaned = text.strip().removeprefix("¥").replace(",", "").strip()
    if not cleaned.isascii():
        raise ValueError(text)
    whole, _, rest = cleaned.partition(".")
    negative = whole.startswith("-")
    whole = whole.removeprefix("-")
    if not (whole or rest) or not (whole + rest).isdigit() or len(rest) > 2:
        raise ValueError(text)
    fen = int(whole or 0) * FEN_PER_YUAN + int(rest.ljust(2, "0") or 0)
    return -fen if negative else fen


def whole_fen(amount: Decimal) -> int:
    """Round down: what is left over is carried, never charged early."""
    return int(amount.to_integral_value(rounding=ROUND_FLOOR))
