"""The form of a pull. It only translates: every rule stands in the services."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.registry.distribution.forms import PLAIN, PlaceForm
from apps.registry.transfers.addresses import LONGEST
from apps.registry.transfers.services import PLATFORMS, NewArchive, NewPull


class TransferForm(PlaceForm):
    platform = forms.ChoiceField(
        label=_("Architecture"),
        required=False,
        choices=[("", _("All that it has")), *((name, name) for name in PLATFORMS)],
        help_text=_("One of them alone takes less room."),
    )


class ArchiveForm(TransferForm):
    """Where the image of an archive goes; the archive itself follows on the next page."""

    field_order = ("whose", "name", "tag", "platform")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["name"].help_text = _("Small letters and digits, with single dots, hyphens or underscores between.")
        self.fields["tag"].help_text = _("Empty: latest.")

    def new(self) -> NewArchive:
        return NewArchive(**self.place(), platform=self.cleaned_data["platform"])


class PullForm(TransferForm):
    """What to pull, from where."""

    field_order = ("address", "platform", "whose", "name", "tag", "username", "password")
    address = forms.CharField(
        label=_("Address"),
        max_length=LONGEST,
        widget=forms.TextInput(attrs={**PLAIN, "class": "pl-code", "placeholder": "docker.io/library/python:3.12"}),
        help_text=_("Host, repository and tag, or a digest after @, as docker pull takes them."),
        error_messages={"required": _("Give the address of an image.")},
    )
    username = forms.CharField(
        label=_("User name"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs=PLAIN),
        help_text=_("Only where the image is not public."),
    )
    password = forms.CharField(
        label=_("Password or token"),
        max_length=4000,
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("It is sealed, given to that registry alone, and forgotten once the image is here."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["name"].required = False
        self.fields["name"].help_text = _("Its name here. Empty: the last part of the address.")
        self.fields["tag"].help_text = _("Empty: as in the address.")

    def new(self) -> NewPull:
        data = self.cleaned_data
        return NewPull(
            **self.place(),
            address=data["address"],
            platform=data["platform"],
            username=data["username"],
            password=data["password"],
        )
