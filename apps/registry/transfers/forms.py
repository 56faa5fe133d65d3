"""The form of a pull. It only translates: every rule stands in the services."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.transfers.addresses import LONGEST
from apps.registry.transfers.services import PLATFORMS, NewArchive, NewPull

MINE, ORGANISATION = "mine", "organisation"
_OFF = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


class PlaceForm(forms.Form):
    """Where an image goes. `namespaces`: how the repositories of the actor and of their organisation begin."""

    platform = forms.ChoiceField(
        label=_("Architecture"),
        required=False,
        choices=[("", _("All that it has")), *((name, name) for name in PLATFORMS)],
        help_text=_("One of them alone takes less room."),
    )
    whose = forms.ChoiceField(label=_("Belongs to"), required=False)
    name = forms.CharField(label=_("Repository"), max_length=150, widget=forms.TextInput(attrs=_OFF))
    tag = forms.CharField(
        label=pgettext_lazy("of an image", "Tag"), max_length=128, required=False, widget=forms.TextInput(attrs=_OFF)
    )

    def __init__(self, *args: Any, actor: Actor, namespaces: tuple[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        organisation, person = namespaces
        whose: Any = self.fields["whose"]
        whose.choices = [(MINE, _("Me: %(name)s/…") % {"name": f"{organisation}/{person}"})]
        if actor.may(Permission.IMAGES_MANAGE):
            whose.choices.append((ORGANISATION, _("The organisation: %(name)s/…") % {"name": organisation}))
        else:
            del self.fields["whose"]


class ArchiveForm(PlaceForm):
    """Where the image of an archive goes; the archive itself follows on the next page."""

    field_order = ("whose", "name", "tag", "platform")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["name"].help_text = _("Small letters and digits, with single dots, hyphens or underscores between.")
        self.fields["name"].error_messages["required"] = _("Give the repository a name.")
        self.fields["tag"].help_text = _("Empty: latest.")

    def new(self) -> NewArchive:
        data = self.cleaned_data
        return NewArchive(
            name=data["name"],
            tag=data["tag"],
            of_organisation=data.get("whose") == ORGANISATION,
            platform=data["platform"],
        )


class PullForm(PlaceForm):
    """What to pull, from where."""

    field_order = ("address", "platform", "whose", "name", "tag", "username", "password")
    address = forms.CharField(
        label=_("Address"),
        max_length=LONGEST,
        widget=forms.TextInput(attrs={**_OFF, "class": "pl-code", "placeholder": "docker.io/library/python:3.12"}),
        help_text=_("Host, repository and tag, or a digest after @, as docker pull takes them."),
        error_messages={"required": _("Give the address of an image.")},
    )
    username = forms.CharField(
        label=_("User name"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs=_OFF),
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
            address=data["address"],
            name=data["name"],
            tag=data["tag"],
            of_organisation=data.get("whose") == ORGANISATION,
            platform=data["platform"],
            username=data["username"],
            password=data["password"],
        )
