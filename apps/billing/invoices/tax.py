"""Value added tax within an amount (价税分离): what was paid includes it, so the net amount follows from the rate."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

# Rates of the Chinese value added tax in per cent; 6 is that of information services.
RATES = (Decimal(0), Decimal(1), Decimal(3), Decimal(5), Decimal(6), Decimal(9), Decimal(13))
USUAL = Decimal(6)
# The bureau's class of services between asterisks, and what it is called: printed as it stands, in Chinese.
USUAL_CONTENT = "*信息技术服务*技术服务费"


@dataclass(frozen=True, slots=True)
class Split:
    """Fen; `net_fen` + `tax_fen` is the amount to the fen."""

    net_fen: int
    tax_fen: int


def split(amount_fen: int, percent: Decimal) -> Split:
    """The net amount rounded half up to the fen, as the tax bureau's system does; the tax is the rest."""
    net = (Decimal(amount_fen) * 100 / (100 + percent)).to_integral_value(rounding=ROUND_HALF_UP)
    return Split(int(net), amount_fen - int(net))
