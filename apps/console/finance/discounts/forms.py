"""The form of a discount: in per cent off or in 折, tenths that are left to pay."""

import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.billing.models.discounts import OFF_PLACES
from apps.billing.vouchers.terms import NOTE_MAX
from apps.common.discounts import plain, says_zhe
from apps.console.finance.price_versions import BeginningForm, moment_field
from apps.console.kit.fields import OrganisationField

HUNDRED = Decimal(100)
PERCENT, ZHE = "percent", "zhe"
# What people write after the number.
SIGNS = {PERCENT: "%", ZHE: "折"}


def share_of(text: str, unit: str) -> Decimal:
    """The share of 1 that is taken off; raises `ValidationError`.

    折 are tenths left to pay, below ten: "85" is refused and not taken for 8.5 or for 85 per cent off.
    """
    typed = unicodedata.normalize("NFKC", text).strip().removesuffix(SIGNS[unit]).strip()
    try:
        number = Decimal(typed)
    except InvalidOperation as error:
        raise ValidationError(_("Give a number, as in 15 or 8.5.")) from error
    if not number.is_finite():
        raise ValidationError(_("Give a number, as in 15 or 8.5."))
    off = number / HUNDRED if unit == PERCENT else 1 - number / 10
    if unit == ZHE and not 0 <= number < 10:
        _refuse_zhe(number)
    if not 0 < off <= 1:
        raise ValidationError(_("A discount is more than 0 and at most 100 per cent."))
    if off != round(off, OFF_PLACES):
        raise ValidationError(_("A discount has at most two decimal places of a per cent."))
    return off


def _refuse_zhe(number: Decimal) -> None:
    if 10 < number < 100:
        meant = {"meant": plain(number / 10), "pay": plain(number)}
        raise ValidationError(_("A number of zhe is below 10. Write %(meant)s for paying %(pay)s %%.") % meant)
    raise ValidationError(_("A number of zhe is from 0 to below 10: 8.5 pays 85 per cent."))


class DiscountForm(BeginningForm):
    organisation = OrganisationField(label=gettext_lazy("Organisation"))
    off = forms.CharField(
        label=gettext_lazy("Discount"),
        max_length=12,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    unit = forms.ChoiceField(
        label=gettext_lazy("Given as"),
        choices=[
            (ZHE, gettext_lazy("Zhe: tenths that are paid (8.5 pays 85 %)")),
            (PERCENT, gettext_lazy("% off: what is taken off (15 pays 85 %)")),
        ],
    )
    effective_to = moment_field(gettext_lazy("Ends at"))
    note = forms.CharField(
        label=gettext_lazy("Note"), max_length=NOTE_MAX, required=False, help_text=gettext_lazy("Contract or reason.")
    )

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        """What is sent without a unit is in per cent."""
        if data is not None and "unit" not in data:
            data = {**data.dict(), "unit": PERCENT}
        super().__init__(data, initial={"unit": ZHE if says_zhe() else PERCENT, **(initial or {})})

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if "off" in data and "unit" in data:
            try:
                data["share"] = share_of(data["off"], data["unit"])
            except ValidationError as error:
                self.add_error("off", error)
        return data

    def share(self) -> Decimal:
        """Of 1."""
        share: Decimal = self.cleaned_data["share"]
        return share
