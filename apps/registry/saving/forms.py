"""The form that asks where work is saved as an image. It only translates: every rule stands in the service."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.distribution.names import own_part
from apps.registry.models import ImageRepository
from apps.registry.saving.models import MAX_NOTE
from apps.registry.saving.services import NewSaving

MINE, ORGANISATION = "mine", "organisation"
MOST_OFFERED = 200
_OFF = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


class SavingForm(forms.Form):
    """`repositories`: names that are there already, for the field to offer; another one makes a new repository.

    `namespace`: what stands before the name, where there is no choice.
    """

    whose = forms.ChoiceField(label=_("Belongs to"))
    name = forms.CharField(
        label=_("Repository"),
        max_length=150,
        widget=forms.TextInput(attrs={**_OFF, "list": "saving-repositories"}),
        help_text=_(
            "One that is there, or a new name: small letters and digits, dots, hyphens or underscores between."
        ),
        error_messages={"required": _("Give the repository a name.")},
    )
    tag = forms.CharField(
        label=pgettext_lazy("of an image", "Tag"),
        max_length=128,
        required=False,
        widget=forms.TextInput(attrs=_OFF),
        help_text=_("Empty: the next number. A version that is there is never overwritten."),
    )
    note = forms.CharField(label=_("Note"), max_length=MAX_NOTE, required=False)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, actor: Actor, **options: Any) -> None:
        super().__init__(*args, **options)
        organisation, person = own_part(actor.person(), actor.organisation())
        whose: Any = self.fields["whose"]
        whose.choices = [(MINE, _("Me: %(name)s/…") % {"name": f"{organisation}/{person}"})]
        namespaces = [f"{organisation}/{person}/"]
        if actor.may(Permission.IMAGES_MANAGE):
            whose.choices.append((ORGANISATION, _("The organisation: %(name)s/…") % {"name": organisation}))
            namespaces.append(f"{organisation}/")
        else:
            del self.fields["whose"]
        self.namespace = "" if "whose" in self.fields else namespaces[0]
        self.repositories = _names(actor, namespaces)

    def new(self) -> NewSaving:
        """The form must be valid."""
        data = self.cleaned_data
        return NewSaving(
            name=data["name"],
            key=data["key"],
            tag=data["tag"],
            of_organisation=data.get("whose") == ORGANISATION,
            note=data["note"],
        )


def _names(actor: Actor, namespaces: list[str]) -> list[str]:
    """Below one's own namespace, and below the organisation's where that is on offer."""
    rows = ImageRepository.objects.filter(organisation_id=actor.organisation())
    rows = rows.filter(owner_id=actor.user_id) | (
        rows.filter(owner__isnull=True) if len(namespaces) > 1 else rows.none()
    )
    found = rows.order_by("-pushed_at").values_list("name", flat=True)[:MOST_OFFERED]
    longest_first = sorted(namespaces, key=len, reverse=True)
    return sorted({next((name.removeprefix(n) for n in longest_first if name.startswith(n)), name) for name in found})
