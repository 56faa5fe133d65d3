"""The form of a discount."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.vouchers.terms import NOTE_MAX
from apps.console.finance.price_versions import LATER, NOW
from apps.console.kit.fields import OrganisationField

HUNDRED = Decimal(100)


def moment_field(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})
    return forms.DateTimeField(label=label, required=False, widget=widget)


class DiscountForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation"))
    off = forms.DecimalField(
        label=_("Discount"),
        max_digits=5,
        decimal_places=2,
        min_value=0,
        max_value=100,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        help_text=_("Taken off every price: 15 makes ¥10.00 an hour ¥8.50."),
    )
    begins = forms.ChoiceField(
        label=_("In force from"), choices=[(NOW, _("From now on")), (LATER, _("From a later time"))], initial=NOW
    )
    effective_from = moment_field(_("Begins at"))
    effective_to = moment_field(_("Ends at"))
    note = forms.CharField(label=_("Note"), max_length=NOTE_MAX, required=False, help_text=_("Contract or reason."))

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("begins") == LATER and not data.get("effective_from") and "effective_from" not in self.errors:
            self.add_error("effective_from", _("Say when it begins."))
        if data.get("begins") == NOW:
            data["effective_from"] = None
        return data

    def share(self) -> Decimal:
        """Of 1."""
        off: Decimal = self.cleaned_data["off"]
        return off / HUNDRED
