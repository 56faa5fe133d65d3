"""How payments are taken."""

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext as _

from apps.billing import policy
from apps.common.errors import Invalid


@dataclass(frozen=True, slots=True)
class PaymentSettings:
    """`alone_fen`: a recharge, refund or voucher of more than this needs a second person; 0: each one does."""

    KEY: ClassVar[str] = "payment"

    alone_fen: int = 1_000_000

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        if not 0 <= self.alone_fen <= policy.TOP_UP_MAX_FEN:
            raise Invalid.field("alone_fen", _("Give an amount from nothing to what one recharge may be."))
