"""Departments in forms and in the API, for the organisation's own people and for staff. Rules stand in the services."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from apps.common.actor import Actor
from apps.console.kit.organisation_choices import department_choices, uuid_of
from apps.tenants.models import Department
from apps.tenants.services import departments
from apps.tenants.services.guarantees import set_department_weight


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

    def __init__(
        self, data: Any = None, *, organisation_id: UUID, besides: Iterable[UUID] = (), **options: Any
    ) -> None:
        super().__init__(data, **options)
        now = self.initial.get("parent", "")
        choices = department_choices(organisation_id, _("Nothing: at the top"), besides=besides, chosen=now)
        self.fields["parent"].choices = choices  # type: ignore[attr-defined]

    def parent_id(self) -> UUID | None:
        return uuid_of(self.cleaned_data["parent"])


class NewDepartmentForm(MoveForm):
    """With the place in the tree chosen beside the name."""

    name = forms.CharField(label=_("Name"), max_length=80)

    field_order = ("name", "parent")


class DepartmentOut(serializers.Serializer[Department]):
    """`parent_id` null: at the top. `weight`: its share in the queue, relative to the departments beside it."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    parent_id = serializers.UUIDField(allow_null=True, read_only=True)
    weight = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class DepartmentIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    parent_id = serializers.UUIDField(allow_null=True, default=None)


class DepartmentChange(serializers.Serializer[Any]):
    """What is left out stays."""

    name = serializers.CharField(max_length=80, required=False)
    parent_id = serializers.UUIDField(allow_null=True, required=False)
    weight = serializers.IntegerField(min_value=1, max_value=100, required=False)


def change_department(
    actor: Actor, *, department_id: UUID, changes: Mapping[str, Any], organisation_id: UUID | None = None
) -> None:
    """Rename, move and weigh a department, as far as `changes` names it. `organisation_id`: for staff."""
    about: dict[str, Any] = {"department_id": department_id, "organisation_id": organisation_id}
    if "name" in changes:
        departments.rename_department(actor, name=changes["name"], **about)
    if "parent_id" in changes:
        departments.move_department(actor, parent_id=changes["parent_id"], **about)
    if "weight" in changes:
        set_department_weight(actor, weight=changes["weight"], **about)
