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

    A comma may only separate thousands: somebody who types "1,5" means one and a half and must not get fifteen.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    fen = int(found["whole"].replace(",", "")) * FEN_PER_YUAN + int((found["rest"] or "").ljust(2, "0"))
    return -fen if found["sign"] else fen


def whole_fen(amount: Decimal) -> int:
    """Round down: the remainder is carried over, never charged early."""
    return int(amount.to_integral_value(rounding=ROUND_FLOOR))


_CAPITALS = "零壹贰叁肆伍陆柒捌玖"
_PLACES = ("", "拾", "佰", "仟")
_GROUPS = ("", "万", "亿", "万亿")


def capital_yuan(fen: int) -> str:
    """The amount in Chinese financial numerals, as on invoices and bank slips: 1,000,050 fen is `壹万元零伍角整`."""
    whole, rest = divmod(abs(fen), FEN_PER_YUAN)
    jiao, last = divmod(rest, 10)
    text = f"{_capital_whole(whole)}元" if whole or not rest else ""
    if rest and whole and (not jiao or whole % 10 == 0):
        text += _CAPITALS[0]
    text += f"{_CAPITALS[jiao]}角" if jiao else ""
    text += f"{_CAPITALS[last]}分" if last else "整"
    return f"负{text}" if fen < 0 else text


def _capital_whole(number: int) -> str:
    """One 零 stands for any row of zeros between other digits."""
    text, digits, skipped = "", str(number), False
    for position, digit in enumerate(digits):
        place = len(digits) - 1 - position
        if digit == "0":
            skipped = True
        else:
            text += (_CAPITALS[0] if skipped else "") + _CAPITALS[int(digit)] + _PLACES[place % 4]
            skipped = False
        if place % 4 == 0 and int(digits[max(0, position - 3) : position + 1]):
            text += _GROUPS[place // 4]
    return text or _CAPITALS[0]
