"""The form of a member's place. Every rule stands in the services."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.kit.fields import PRIORITIES
from apps.console.organisation.choices import department_choices, role_choices, uuid_of
from apps.tenants.choices import Role
from apps.tenants.services.members import Place


class PlaceForm(forms.Form):
    """A member's place. The base role gives the rank; an own role replaces what it allows."""

    role = forms.ChoiceField(
        label=_("Base role"),
        choices=Role.choices,
        help_text=_("Gives the rank: one changes only people of a lower one."),
    )
    own_role = forms.ChoiceField(label=_("Permissions"), required=False)
    department = forms.ChoiceField(label=_("Department"), required=False)
    priority = forms.TypedChoiceField(
        label=_("Priority in the queue"),
        choices=PRIORITIES,
        coerce=int,
        help_text=_("For what they submit from now on."),
    )
    weight = forms.IntegerField(
        label=_("Weight in the queue"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Their share of what the department gets, relative to the people beside them."),
    )

    def __init__(self, data: Any = None, *, organisation_id: UUID, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["own_role"].choices = role_choices(organisation_id)  # type: ignore[attr-defined]
        now = self.initial.get("department", "")
        choices = department_choices(organisation_id, _("None"), chosen=now)
        self.fields["department"].choices = choices  # type: ignore[attr-defined]

    def place(self) -> Place:
        data = self.cleaned_data
        return Place(
            role=Role(data["role"]),
            own_role_id=uuid_of(data["own_role"]),
            department_id=uuid_of(data["department"]),
            priority=data["priority"],
            weight=data["weight"] or self.initial.get("weight", 1),
        )
