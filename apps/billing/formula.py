"""How one charge comes about, as it is shown: seconds × price ÷ 3600, exactly and rounded."""

from decimal import Decimal

from apps.billing.models import Charge
from apps.common.money import FEN_PER_YUAN


def plain_number(number: Decimal, *, least: int = 0) -> str:
    """`3,600`, `59.998123`, `7.80`: no trailing zeros beyond `least` places, thousands apart."""
    places = max(least, -int(number.normalize().as_tuple().exponent))
    return f"{number:,.{places}f}"


def yuan_per_hour(charge: Charge) -> str:
    """`7.80`, of one replica."""
    return plain_number(charge.rate / FEN_PER_YUAN, least=2)


def discount_factor(charge: Charge) -> str:
    """`0.85`: the factor by which the discount multiplies the price."""
    return plain_number(1 - charge.discount_off)


def calculation(charge: Charge) -> str:
    """`2,386 × 2 × 7.80 ÷ 3600`: seconds, replicas where there are several, yuan per hour.

    Replicas that a prepaid order covers are taken off: `2,386 × (2 - 1) × 7.80 ÷ 3600`. With a discount of 15 per cent
    it ends in `× 7.80 × 0.85 ÷ 3600`.
    """
    factors = [plain_number(charge.seconds)]
    if charge.covered:
        factors.append(f"({charge.replicas} - {charge.covered})")
    elif charge.replicas != 1:
        factors.append(str(charge.replicas))
    factors.append(yuan_per_hour(charge))
    if charge.discount_off:
        factors.append(discount_factor(charge))
    return f"{' × '.join(factors)} ÷ 3600"


def exact_yuan(charge: Charge) -> str:
    """`¥10.339333333333`: to the last place that the ledger keeps."""
    sign = "-" if charge.exact_fen < 0 else ""
    return f"{sign}¥{plain_number(abs(charge.exact_fen) / FEN_PER_YUAN, least=2)}"


def per_cent(off: Decimal) -> str:
    """`15 %`, `12.5 %`: a share of 1 with as many places as it has."""
    return f"{(off * 100).normalize():f} %"


def yuan_of(fen: int | Decimal) -> Decimal:
    """Two places for whole fen, as many as there are for exact ones."""
    found = Decimal(fen) / FEN_PER_YUAN
    return found.quantize(Decimal("0.01")) if isinstance(fen, int) else found.normalize()
