"""/api/v1/console/organisations/<id>/departments/: an organisation's departments."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName
from apps.console.kit.departments import DepartmentChange, DepartmentIn, DepartmentOut, change_department
from apps.console.people.organisations import selectors as reads
from apps.tenants.models import Department
from apps.tenants.services import departments

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class DepartmentOfOrganisation(DepartmentOut):
    """`people`: right in it."""

    people = serializers.IntegerField(read_only=True)


@extend_schema(tags=["console: organisations"])
class Departments(ScopedView, generics.ListAPIView[Department]):
    """Departments of the whole tree, by name."""

    access = {"get": VIEW, "post": MANAGE}
    queryset = Department.objects.none()
    serializer_class = DepartmentOfOrganisation
    pagination_class = ByName

    def get_queryset(self) -> QuerySet[Department]:
        reads.get(self.actor, self.kwargs["organisation_id"])
        return reads.departments(self.actor, self.kwargs["organisation_id"])

    @extend_schema(request=DepartmentIn, responses={201: DepartmentOfOrganisation})
    def post(self, request: Request, organisation_id: UUID) -> Response:
        """Make one, at the top or below another."""
        given = DepartmentIn(data=request.data)
        given.is_valid(raise_exception=True)
        reads.get(self.actor, organisation_id)
        made = departments.create_department(self.actor, organisation_id=organisation_id, **given.validated_data)
        kept = reads.department(self.actor, organisation_id, made.pk)
        return Response(DepartmentOfOrganisation(kept).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: organisations"])
class DepartmentDetail(ScopedView):
    access = {"get": VIEW, "patch": MANAGE, "delete": MANAGE}

    @extend_schema(responses=DepartmentOfOrganisation)
    def get(self, request: Request, organisation_id: UUID, department_id: UUID) -> Response:
        return Response(DepartmentOfOrganisation(reads.department(self.actor, organisation_id, department_id)).data)

    @extend_schema(request=DepartmentChange, responses=DepartmentOfOrganisation)
    def patch(self, request: Request, organisation_id: UUID, department_id: UUID) -> Response:
        """Rename it, move it with everything below, or weigh it."""
        given = DepartmentChange(data=request.data)
        given.is_valid(raise_exception=True)
        about: dict[str, Any] = {"organisation_id": organisation_id, "department_id": department_id}
        reads.department(self.actor, **about)
        change_department(self.actor, changes=given.validated_data, **about)
        return self.get(request, **about)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, organisation_id: UUID, department_id: UUID) -> Response:
        """Only an empty one."""
        departments.delete_department(self.actor, department_id=department_id, organisation_id=organisation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
