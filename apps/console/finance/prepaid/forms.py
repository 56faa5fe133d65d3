"""Forms of prepaid time."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import PREPAID_TERMS
from apps.billing.prepaid.changes import REASON_MAX
from apps.common.money_fields import YuanField


class TermPriceForm(forms.Form):
    """No price: the package is not offered for this term any more."""

    term = forms.ChoiceField(label=_("Term"), choices=[(term.value, term.label) for term in PREPAID_TERMS])
    price = YuanField(
        label=_("Price of one period and replica"),
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        help_text=_("Empty: not offered for this term from now on."),
    )


class GiveBackForm(forms.Form):
    reason = forms.CharField(
        label=_("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 2}), strip=True
    )
