"""The form that asks where work is saved as an image. It only translates: every rule stands in the service."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.registry.distribution.forms import PlaceForm
from apps.registry.models import ImageRepository
from apps.registry.saving.models import MAX_NOTE
from apps.registry.saving.services import NewSaving

MOST_OFFERED = 200


class SavingForm(PlaceForm):
    """`repositories`: names that are there already, for the field to offer; another one makes a new repository.

    `namespace`: what stands before the name, where there is no choice.
    """

    note = forms.CharField(label=_("Note"), max_length=MAX_NOTE, required=False)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, actor: Actor, **options: Any) -> None:
        super().__init__(*args, actor=actor, **options)
        name, tag = self.fields["name"], self.fields["tag"]
        name.widget.attrs["list"] = "saving-repositories"
        name.help_text = _(
            "One that is there, or a new name: small letters and digits, dots, hyphens or underscores between."
        )
        tag.help_text = _("Empty: the next number. A version that is there is never overwritten.")
        self.namespace = "" if "whose" in self.fields else self.namespaces[0]
        self.repositories = _names(actor, self.namespaces)

    def new(self) -> NewSaving:
        """The form must be valid."""
        return NewSaving(**self.place(), key=self.cleaned_data["key"], note=self.cleaned_data["note"])


def _names(actor: Actor, namespaces: list[str]) -> list[str]:
    """Below one's own namespace, and below the organisation's where that is on offer."""
    rows = ImageRepository.objects.filter(organisation_id=actor.organisation())
    rows = rows.filter(owner_id=actor.user_id) | (
        rows.filter(owner__isnull=True) if len(namespaces) > 1 else rows.none()
    )
    found = rows.order_by("-pushed_at").values_list("name", flat=True)[:MOST_OFFERED]
    longest_first = sorted(namespaces, key=len, reverse=True)
    return sorted({next((name.removeprefix(n) for n in longest_first if name.startswith(n)), name) for name in found})
