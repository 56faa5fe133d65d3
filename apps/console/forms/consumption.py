"""The filter bar of the consumption page."""

from django import forms
from django.utils.translation import gettext_lazy as _


class PeriodForm(forms.Form):
    q = forms.CharField(
        label=_("Organisation, workload, owner"),
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "size": 24}),
    )
    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
    )
