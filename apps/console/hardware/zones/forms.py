"""The form that names a zone or a cluster."""

from django import forms
from django.utils.translation import gettext_lazy as _


class NameForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"}))
