"""Fields that read money and organisations as people write them, strictly."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.money import FEN_PER_YUAN
from apps.console.selectors.organisations import find
from apps.tenants.models import Organisation

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


class Completing(forms.TextInput):
    """A text field with a list of suggestions that the server narrows while one types."""

    template_name = "console/widgets/completing.html"

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        attrs: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        return {
            "autocomplete": "off",
            "list": f"{attrs.get('id', '')}-list",
            "hx-get": reverse("console:organisation_suggestions"),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "next datalist",
            "hx-swap": "innerHTML",
            # A filter bar around it has its own; these end what would be inherited.
            "hx-select": "unset",
            "hx-push-url": "false",
            "hx-sync": "this:replace",
            "hx-params": "*",
            **attrs,
        }


class OrganisationField(forms.CharField):
    """An organisation by its name, short name or id, cleaned to the organisation."""

    widget = Completing
    default_error_messages = {"unknown": _("There is no organisation with this name.")}

    def clean(self, value: Any) -> Organisation | None:
        text = super().clean(value)
        if not text:
            return None
        organisation = find(text)
        if organisation is None:
            raise ValidationError(self.error_messages["unknown"], code="unknown")
        return organisation
