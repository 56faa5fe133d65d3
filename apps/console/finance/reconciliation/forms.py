"""The forms of the reconciliation with Alipay."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.billing.payments.reconciliation.acts import NOTE_MAX
from apps.billing.payments.reconciliation.download import MOST_BYTES
from apps.console.kit.fields import OrganisationField


class BillForm(forms.Form):
    bill = forms.FileField(
        label=_("The bill"),
        help_text=_("The zip as Alipay gives it (业务明细), or the file with the payments from inside it."),
        widget=forms.FileInput(attrs={"accept": ".zip,.csv", "max_bytes": MOST_BYTES}),
    )

    def clean_bill(self) -> bytes:
        file = self.cleaned_data["bill"]
        if file.size > MOST_BYTES:
            raise ValidationError(_("This file is larger than any bill."))
        content: bytes = file.read()
        return content


class CloseForm(forms.Form):
    note = forms.CharField(label=_("How it was settled"), max_length=NOTE_MAX, widget=forms.Textarea(attrs={"rows": 3}))


class WhoseForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation that paid"), max_length=80)
