"""/api/v1/console/organisations/<id>/departments/: an organisation's departments."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName
from apps.console.people.organisations import selectors as reads
from apps.tenants.models import Department


class DepartmentOfOrganisation(serializers.Serializer[Any]):
    """`parent_id` null: at the top. `people`: right in it. `weight`: relative to the departments beside it."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    parent_id = serializers.UUIDField(allow_null=True, read_only=True)
    people = serializers.IntegerField(read_only=True)
    weight = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema(tags=["console: organisations"])
class Departments(ScopedView, generics.ListAPIView[Department]):
    """Departments of the whole tree, by name."""

    access = on_platform(P.PLATFORM_TENANTS_VIEW)
    queryset = Department.objects.none()
    serializer_class = DepartmentOfOrganisation
    pagination_class = ByName

    def get_queryset(self) -> QuerySet[Department]:
        reads.get(self.actor, self.kwargs["organisation_id"])
        return reads.departments(self.actor, self.kwargs["organisation_id"])
