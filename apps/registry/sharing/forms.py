"""The form of a share. It only translates: every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.forms import day_field
from apps.registry.sharing.models import MAX_NOTE
from apps.registry.sharing.services import NewShare

MAX_NAME = 80


class ShareForm(forms.Form):
    organisation = forms.CharField(
        label=_("Organisation"),
        max_length=MAX_NAME,
        help_text=_("Its short name, with which its repositories begin, or its name as its people write it."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}),
        error_messages={"required": _("Name the organisation.")},
    )
    note = forms.CharField(
        label=_("Note"), max_length=MAX_NOTE, required=False, help_text=_("For them to read: what it is, and for what.")
    )
    until = day_field(
        _("Until"), required=False, help_text=_("The last day on which they can use it. Empty: until you take it back.")
    )

    def new(self) -> NewShare:
        return NewShare(**self.cleaned_data)
