"""An organisation's own roles in forms and in the API, for its people and for staff. Rules stand in the services."""

from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.tenants.models import OrganisationRole
from apps.tenants.permission_words import words_for
from apps.tenants.roles import organisation_permissions


def own_roles(organisation_id: UUID) -> "QuerySet[OrganisationRole]":
    """The roles of the organisation's own making, each with `used_by`: how many members have it."""
    rows: QuerySet[OrganisationRole] = OrganisationRole.objects.filter(organisation_id=organisation_id)
    return rows.annotate(used_by=Count("memberships"))


def own_role(organisation_id: UUID, role_id: UUID) -> OrganisationRole:
    found = own_roles(organisation_id).filter(pk=role_id).first()
    if found is None:
        raise NotFound
    return found


class RoleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    permissions = forms.MultipleChoiceField(
        choices=[(each.value, words_for(each)) for each in Permission.every()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


PERMISSIONS = [(each.value, each.value) for each in Permission.every() if each in organisation_permissions()]


class RoleOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    permissions = serializers.ListField(child=serializers.CharField(), read_only=True)
    used_by = serializers.IntegerField(read_only=True)


class RoleIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    permissions = serializers.ListField(
        child=serializers.ChoiceField(choices=PERMISSIONS), min_length=1, max_length=len(PERMISSIONS)
    )
