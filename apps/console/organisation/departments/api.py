"""/api/v1/organisation/departments/: the organisation's departments."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName
from apps.console.organisation.departments.listing import DepartmentFilter
from apps.tenants.models import Department
from apps.tenants.services import departments
from apps.tenants.services.guarantees import set_department_weight

PEOPLE = in_organisation(P.MEMBERS_MANAGE)


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


@extend_schema(tags=["organisation"])
class Departments(ScopedView, generics.ListAPIView[Department]):
    """Departments of the whole tree, by name."""

    access = PEOPLE
    queryset = Department.objects.none()
    serializer_class = DepartmentOut
    pagination_class = ByName
    filterset_class = DepartmentFilter

    def get_queryset(self) -> QuerySet[Department]:
        rows: QuerySet[Department] = Department.objects.filter(organisation_id=self.actor.organisation())
        return rows

    @extend_schema(request=DepartmentIn, responses={201: DepartmentOut})
    def post(self, request: Request) -> Response:
        given = DepartmentIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = departments.create_department(self.actor, **given.validated_data)
        return Response(DepartmentOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["organisation"])
class DepartmentDetail(ScopedView):
    access = PEOPLE

    @extend_schema(request=DepartmentChange, responses=DepartmentOut)
    def patch(self, request: Request, department_id: UUID) -> Response:
        """Rename it, move it with everything below, or weigh it."""
        given = DepartmentChange(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        if "name" in data:
            departments.rename_department(self.actor, department_id=department_id, name=data["name"])
        if "parent_id" in data:
            departments.move_department(self.actor, department_id=department_id, parent_id=data["parent_id"])
        if "weight" in data:
            set_department_weight(self.actor, department_id=department_id, weight=data["weight"])
        found = Department.objects.filter(organisation_id=self.actor.organisation(), pk=department_id).first()
        if found is None:
            raise NotFound
        return Response(DepartmentOut(found).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, department_id: UUID) -> Response:
        """Only an empty one."""
        departments.delete_department(self.actor, department_id=department_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
