"""Sending a reviewed statement back."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.statements.services import REASON_MAX


class ReopenForm(forms.Form):
    reason = forms.CharField(label=_("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 3}))
