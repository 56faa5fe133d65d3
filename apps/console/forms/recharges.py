"""The form of a recharge."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.billing import policy
from apps.billing.services.recharge import REFERENCE_MAX
from apps.common.money import yuan
from apps.console.forms.fields import OrganisationField, YuanField


class RechargeForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation"), max_length=80)
    amount = YuanField(label=_("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
    reference = forms.CharField(
        label=_("Reference of the payment"),
        max_length=REFERENCE_MAX,
        help_text=_("Bank slip, contract or order number. One reference credits an organisation once."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    note = forms.CharField(label=_("Note"), max_length=300, required=False)

    def clean_amount(self) -> int:
        """What the service would refuse is said before the second step asks to confirm it."""
        amount: int = self.cleaned_data["amount"]
        if amount <= 0:
            raise ValidationError(_("The amount must be more than zero."))
        if amount > policy.TOP_UP_MAX_FEN:
            raise ValidationError(_("At most %(limit)s at a time."), params={"limit": yuan(policy.TOP_UP_MAX_FEN)})
        return amount
