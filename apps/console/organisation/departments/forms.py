"""Forms of departments. Every rule stands in the services."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.organisation.choices import department_choices, uuid_of


class DepartmentForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80)


class DepartmentEditForm(DepartmentForm):
    weight = forms.IntegerField(
        label=_("Weight in the queue"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Its share of what the organisation gets, relative to the departments beside it."),
    )


class MoveForm(forms.Form):
    parent = forms.ChoiceField(label=_("Below"), required=False)

    def __init__(self, data: Any = None, *, organisation_id: UUID, besides: Iterable[UUID], **options: Any) -> None:
        super().__init__(data, **options)
        now = self.initial.get("parent", "")
        choices = department_choices(organisation_id, _("Nothing: at the top"), besides=besides, chosen=now)
        self.fields["parent"].choices = choices  # type: ignore[attr-defined]

    def parent_id(self) -> UUID | None:
        return uuid_of(self.cleaned_data["parent"])
