"""What finance staff say about an invoice."""

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.invoices.forms import InvoiceFilesField
from apps.billing.invoices.issuing import REASON_MAX, Issue
from apps.billing.invoices.requesting import CONTENT_MAX
from apps.billing.invoices.tax import RATES, USUAL
from apps.common.forms import day_field


class IssueForm(forms.Form):
    number = forms.CharField(
        label=_("Invoice number"),
        max_length=24,
        help_text=_("20 digits; older kinds have 8, with their code before it."),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )
    issued_on = day_field(_("Date of issue"))
    tax_percent = forms.TypedChoiceField(
        label=_("Tax rate"),
        choices=[(str(rate), f"{rate} %") for rate in RATES],
        coerce=Decimal,
        initial=str(USUAL),
        help_text=_("The amount includes the tax: net amount and tax follow from it."),
    )
    content = forms.CharField(label=_("What it is for"), max_length=CONTENT_MAX, help_text=_("As it is printed."))
    files = InvoiceFilesField(  # type: ignore[assignment]  # named as in the API; the form has read its own by then
        label=_("The invoice"), help_text=_("PDF, OFD or XML, at most 10 MB each.")
    )

    def issue(self) -> Issue:
        """Of a form that is valid."""
        data = self.cleaned_data
        return Issue(data["number"], data["issued_on"], data["files"], data["tax_percent"], data["content"])


class DenyInvoiceForm(forms.Form):
    answer = forms.CharField(label=_("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 3}))


class VoidForm(forms.Form):
    reason = forms.CharField(label=_("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 3}))
    red_number = forms.CharField(label=_("Number of the red invoice"), max_length=24, required=False)
