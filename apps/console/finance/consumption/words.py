"""Figures of a charge, as its formula shows them."""

from decimal import Decimal

from apps.billing.formula import discount_factor
from apps.billing.models import Charge
from apps.common.formatting import UNKNOWN
from apps.common.money import FEN_PER_YUAN


def plain_seconds(value: Decimal | None) -> str:
    """2386.000000 → `2,386`; fractions of a second stay where there are any."""
    if value is None:
        return UNKNOWN
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return text or "0"


def yuan_figure(fen_per_hour: Decimal | None) -> str:
    """A rate as the figure of a formula: 780 → `7.80`, 48.125 → `0.48125`."""
    if fen_per_hour is None:
        return UNKNOWN
    value = (Decimal(fen_per_hour) / FEN_PER_YUAN).normalize()
    places = max(2, -int(value.as_tuple().exponent))
    return f"{value:.{places}f}"


def formula(charge: Charge) -> str:
    """`2386 × 2 × 7.80 × 0.85 ÷ 3600`: replicas where there are several, less those covered; what a discount leaves."""
    factors = [plain_seconds(charge.seconds).replace(",", "")]
    if charge.covered:
        factors.append(f"({charge.replicas} - {charge.covered})")
    elif charge.replicas != 1:
        factors.append(str(charge.replicas))
    factors.append(yuan_figure(charge.rate))
    if charge.discount_off:
        factors.append(discount_factor(charge))
    return " × ".join(factors) + " ÷ 3600"
