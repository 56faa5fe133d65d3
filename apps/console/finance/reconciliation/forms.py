"""The forms of the reconciliation with Alipay."""

from datetime import date

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.billing.days import billing_day
from apps.billing.payments.reconciliation.acts import NOTE_MAX
from apps.billing.payments.reconciliation.download import MOST_BYTES
from apps.common.clock import db_now
from apps.common.forms import day_field
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


class DatedBillForm(BillForm):
    """A bill of any day, with the day that it is of."""

    day = day_field(_("Day of the bill"))
    field_order = ("day", "bill")

    def clean_day(self) -> date:
        day: date = self.cleaned_data["day"]
        if day > billing_day(db_now()):
            raise ValidationError(_("This day is still to come."))
        return day


class CloseForm(forms.Form):
    note = forms.CharField(label=_("How it was settled"), max_length=NOTE_MAX, widget=forms.Textarea(attrs={"rows": 3}))


class WhoseForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation that paid"), max_length=80)
