"""Form fields that read money as people write it, strictly."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.common.money import FEN_PER_YUAN

# Digits, or groups of three parted by commas: "1,5" is refused, because it could be one and a half or fifteen.
_AMOUNT = re.compile(r"(?P<whole>\d{1,12}|\d{1,3}(,\d{3}){1,3})(\.(?P<rest>\d+))?", re.ASCII)


def _decimal(text: str, places: int) -> Decimal | None:
    """Yuan as typed; None for anything that is no plain amount with at most `places` decimals."""
    match = _AMOUNT.fullmatch(text.strip().removeprefix("¥").strip())
    if match is None or len(match["rest"] or "") > places:
        return None
    return Decimal(match["whole"].replace(",", "") + "." + (match["rest"] or "0"))


class YuanField(forms.CharField):
    """An amount in yuan, cleaned to whole fen."""

    default_error_messages = {"amount": _("Give an amount in yuan with at most two decimals, as in 1,500.00.")}

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        yuan = _decimal(text, 2)
        if yuan is None:
            raise ValidationError(self.error_messages["amount"], code="amount")
        return int(yuan * FEN_PER_YUAN)


class YuanRateField(forms.CharField):
    """A price in yuan per hour, cleaned to Decimal fen per hour. Four decimals of a yuan, no more."""

    default_error_messages = {
        "rate": _("Give a price in yuan an hour with at most four decimals, as in 7.80 or 0.0125.")
    }

    def clean(self, value: Any) -> Decimal | None:
        text = super().clean(value)
        if not text:
            return None
        yuan = _decimal(text, 4)
        if yuan is None:
            raise ValidationError(self.error_messages["rate"], code="rate")
        return yuan * FEN_PER_YUAN
