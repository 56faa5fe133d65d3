"""How payments are taken."""

from dataclasses import dataclass, fields
from typing import ClassVar

from django.utils.translation import gettext as _

from apps.billing import policy
from apps.common.errors import Invalid


@dataclass(frozen=True, slots=True)
class PaymentSettings:
    """What one person may do alone; anything more needs a second person.

    `alone_fen`: a recharge, refund, voucher or credit limit, and all that one person grants in a day; 0: each one needs
    two. `discount_percent`: how much a discount may take off. `price_drop_percent`: by how much a price may be lowered.
    """

    KEY: ClassVar[str] = "payment"

    alone_fen: int = 1_000_000
    discount_percent: int = 20
    price_drop_percent: int = 20

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        if not 0 <= self.alone_fen <= policy.TOP_UP_MAX_FEN:
            raise Invalid.field("alone_fen", _("Give an amount from nothing to what one recharge may be."))
        for name in ("discount_percent", "price_drop_percent"):
            if not 0 <= getattr(self, name) <= 100:
                raise Invalid.field(name, _("Give a whole number from 0 to 100."))

    def loosens(self, other: "PaymentSettings") -> bool:
        """Whether these let one person do something alone that `other` does not."""
        return any(getattr(self, field.name) > getattr(other, field.name) for field in fields(self))
