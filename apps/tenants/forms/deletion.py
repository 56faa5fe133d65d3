"""The confirmation before an account is deleted: its user name, typed."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.tenants.models import User


class DeletionForm(forms.Form):
    confirm = forms.CharField(
        max_length=60,
        strip=True,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": gettext_lazy("Type the user name to confirm.")},
    )

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.fields["confirm"].label = _("Type %(name)s to confirm") % {"name": user.username}

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if typed != self.user.username:
            raise forms.ValidationError(_("This is not the user name of the account."))
        return typed
