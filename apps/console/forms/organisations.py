"""Forms about organisations, their people and their limits. Every rule stands in the services."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.selectors.organisations import Limit
from apps.tenants.choices import Resource, Role
from apps.tenants.services import Person

NEW, EXISTING = "new", "existing"
PRIORITIES = [(5, _("5, goes first")), (4, "4"), (3, _("3, usual")), (2, "2"), (1, _("1, goes last"))]


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


class MemberForm(forms.Form):
    """A new person with an account of their own, or somebody who has one already."""

    who = forms.ChoiceField(
        label=_("Person"),
        choices=[(NEW, _("A new person")), (EXISTING, _("Somebody with an account"))],
        initial=NEW,
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label=_("User name"), max_length=150)
    name = forms.CharField(label=_("Name"), max_length=80, required=False)
    email = forms.CharField(label=_("E-mail"), max_length=254, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)
    priority = forms.TypedChoiceField(label=_("Priority in the queue"), choices=PRIORITIES, coerce=int, initial=3)

    @property
    def is_new(self) -> bool:
        return bool(self.cleaned_data["who"] == NEW)

    def person(self) -> Person:
        data = self.cleaned_data
        return Person(username=data["username"], email=data["email"], name=data["name"])


class LimitsForm(forms.Form):
    """One optional number for each resource, in the unit that people use; empty means unlimited."""

    UNITS: dict[Resource, tuple[int, Any]] = {
        Resource.CPU_MILLI: (1000, _("cores")),
        Resource.MEMORY_MIB: (1024, "GiB"),
        Resource.GPU_MILLI: (1000, _("cards")),
        Resource.RUNS: (1, _("runs")),
    }

    def __init__(self, data: Any = None, *, limits: list[Limit]) -> None:
        initial = {limit.resource.value: _shown(limit.resource, limit.limit) for limit in limits}
        super().__init__(data, initial=initial)
        for limit in limits:
            whole = limit.resource is Resource.RUNS
            self.fields[limit.resource.value] = forms.DecimalField(
                label=limit.resource.label,
                required=False,
                min_value=0,
                max_digits=10,
                decimal_places=0 if whole else 3,
                widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
            )

    def limits(self) -> dict[Resource, int | None]:
        """In the units of the quota's rows."""
        return {resource: _stored(resource, self.cleaned_data[resource.value]) for resource in Resource}


def _shown(resource: Resource, limit: int | None) -> str:
    if limit is None:
        return ""
    return f"{(Decimal(limit) / LimitsForm.UNITS[resource][0]).normalize():f}"


def _stored(resource: Resource, value: Decimal | None) -> int | None:
    return None if value is None else int(value * LimitsForm.UNITS[resource][0])
