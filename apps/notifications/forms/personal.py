"""Forms of the phone that SMS go to."""

from django import forms
from django.utils.translation import gettext_lazy as _


class NumberForm(forms.Form):
    number = forms.CharField(
        label=_("Phone number"),
        max_length=30,
        help_text=_("With its country, as in +86 138 0013 8000. A code is sent there."),
        widget=forms.TextInput(attrs={"autocomplete": "tel", "inputmode": "tel"}),
    )


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=12,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
