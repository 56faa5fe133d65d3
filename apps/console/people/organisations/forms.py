"""The form of an organisation. Every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _


class OrganisationForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("As its people know it, unique on the platform.")
    )
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=40,
        required=False,
        help_text=_("Lower-case letters, digits and dashes. Empty: made from the name."),
    )
