"""The price for one organisation: what is listed less its discount, alike for usage and for what is paid in advance."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from apps.billing.arithmetic import NOTHING_OFF, hour_price, net_fen, net_rate
from apps.billing.models import Discount
from apps.billing.selectors.discounts import discount_at


@dataclass(frozen=True, slots=True)
class OwnPrices:
    """List prices as an organisation pays them at some moment; without a discount, as they are."""

    discount: Discount | None = None

    @property
    def off(self) -> Decimal:
        """The share that is taken off."""
        return self.discount.off if self.discount else NOTHING_OFF

    @property
    def all_free(self) -> bool:
        return self.off == 1

    def rate(self, listed_fen_per_hour: Decimal) -> Decimal:
        """Fen per hour, exact."""
        return net_rate(listed_fen_per_hour, self.off)

    def hour(self, listed_fen_per_hour: Decimal, replicas: int) -> int:
        """Whole fen that cover an hour."""
        return hour_price(listed_fen_per_hour, replicas, self.off)

    def paid_ahead(self, listed_fen: int) -> int:
        """Whole fen of what is paid at once, rounded once."""
        return net_fen(listed_fen, self.off)


def own_prices(organisation_id: UUID, at: datetime) -> OwnPrices:
    """Those that hold for what the organisation starts or pays in advance at this moment."""
    return OwnPrices(discount_at(organisation_id, at))
