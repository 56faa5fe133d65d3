"""Forms of volumes and datasets. They only translate: every rule stands in the services."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.storage import volumes
from apps.storage.choices import Right
from apps.storage.choosing import Chosen, mounts_from_post
from apps.storage.models import Owned
from apps.tenants.models import Membership

GIB = 1024


class MountsForm(forms.Form):
    """A part of forms that start work. Its choices are read beside the fields: one for each volume and version."""

    mounts = forms.CharField(label=_("Volumes and datasets"), required=False)  # carries what is wrong with them

    def chosen(self) -> tuple[Chosen, ...]:
        """Volumes and datasets to mount: as chosen in the page, or as they were set at first."""
        return mounts_from_post(self.data) if self.is_bound else tuple(self.initial.get("mounts", ()))


class SizeField(forms.DecimalField):
    """GiB as typed, MiB as kept."""

    def __init__(self, **options: Any) -> None:
        super().__init__(label=_("Size"), min_value=0, max_digits=12, decimal_places=3, **options)

    def clean(self, value: Any) -> int:
        found = super().clean(value)
        return 0 if found is None else round(found * GIB)


class VolumeForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=200, help_text=_("Mounted as /volumes/<name>: letters, digits, dots, - and _.")
    )
    size_mib = SizeField(initial=10)
    note = forms.CharField(label=_("Note"), max_length=200, required=False)


class RenameForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=200)
    note = forms.CharField(label=_("Note"), max_length=200, required=False)


class ResizeForm(forms.Form):
    size_mib = SizeField()


class DatasetForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=200, help_text=_("Mounted as /datasets/<name>: letters, digits, dots, - and _.")
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False)


class ShareForm(forms.Form):
    """Members of the organisation, without the owner."""

    user = forms.TypedChoiceField(label=_("Person"), coerce=int)
    right = forms.ChoiceField(label=_("Right"), choices=Right.choices, initial=Right.READ)

    def __init__(self, *args: Any, thing: Owned, **options: Any) -> None:
        super().__init__(*args, **options)
        members = Membership.objects.filter(organisation_id=thing.organisation_id, user__is_active=True)
        rows = members.exclude(user_id=thing.owner_id).select_related("user").order_by("user__name", "user__username")
        people = [(row.user_id, f"{row.user.display_name} ({row.user.username})") for row in rows[:500]]
        self.fields["user"].choices = [("", _("Choose a person")), *people]  # type: ignore[attr-defined]


class VersionForm(forms.Form):
    """Where the next version comes from: a folder of a volume, or what was uploaded for it (no volume)."""

    volume = forms.TypedChoiceField(label=_("Volume"), required=False, empty_value=None)
    path = forms.CharField(
        label=_("Folder"), max_length=1024, required=False, help_text=_("Inside the volume; empty for all of it.")
    )
    note = forms.CharField(
        label=_("Note"), max_length=200, required=False, help_text=_("What is new in this version, in a few words.")
    )

    def __init__(self, *args: Any, actor: Actor, **options: Any) -> None:
        super().__init__(*args, **options)
        rows = volumes.visible(actor)[:500]
        choices = [("", _("Choose a volume")), *((str(row.pk), row.name) for row in rows)]
        self.fields["volume"].choices = choices  # type: ignore[attr-defined]
