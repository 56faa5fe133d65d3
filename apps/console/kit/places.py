"""A member's place in forms and in the API, for an organisation's people and for staff. Rules stand in the services."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from apps.common.actor import Actor
from apps.console.kit.api import Person
from apps.console.kit.fields import PRIORITIES
from apps.console.kit.organisation_choices import department_choices, role_choices, uuid_of
from apps.notifications.services import notify_user
from apps.tenants.choices import Role
from apps.tenants.models import Membership
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


def place_of(member: Membership) -> Place:
    return Place(Role(member.role), member.own_role_id, member.department_id, member.priority, member.weight)


def place_with(member: Membership, changes: Mapping[str, Any]) -> Place:
    """The member's place with what `PlaceIn` names changed."""
    given = {**changes, "role": Role(changes["role"])} if "role" in changes else changes
    return replace(place_of(member), **given)


def initial_of(member: Membership) -> dict[str, Any]:
    """Of `PlaceForm`."""
    return {
        "role": member.role,
        "own_role": str(member.own_role_id or ""),
        "department": str(member.department_id or ""),
        "priority": member.priority,
        "weight": member.weight,
    }


def notify_of_role(actor: Actor, before: Membership, after: Membership) -> None:
    """Tell the person whose role was changed."""
    if (before.role, before.own_role_id) == (after.role, after.own_role_id):
        return
    role = after.own_role.name if after.own_role else str(Role(after.role).label)
    data = {"person": before.user.display_name, "by": actor.label, "role": role}
    notify_user(organisation_id=after.organisation_id, user_id=after.user_id, kind="member.role_changed", data=data)


class OrganisationMemberOut(serializers.Serializer[Membership]):
    user = Person(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    own_role_id = serializers.UUIDField(allow_null=True, read_only=True)
    department_id = serializers.UUIDField(allow_null=True, read_only=True)
    priority = serializers.IntegerField(read_only=True)
    weight = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class PlaceIn(serializers.Serializer[Any]):
    """What is left out stays. `priority` 5 goes first in the queue; `weight`: the share among people beside them."""

    role = serializers.ChoiceField(choices=Role.choices, required=False)
    own_role_id = serializers.UUIDField(allow_null=True, required=False)
    department_id = serializers.UUIDField(allow_null=True, required=False)
    priority = serializers.IntegerField(min_value=1, max_value=5, required=False)
    weight = serializers.IntegerField(min_value=1, max_value=100, required=False)
