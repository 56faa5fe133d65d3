"""/api/v1/organisation/departments/: the organisation's departments."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName
from apps.console.kit.departments import DepartmentChange, DepartmentIn, DepartmentOut, change_department
from apps.console.organisation.departments.listing import DepartmentFilter
from apps.tenants.models import Department
from apps.tenants.services import departments

PEOPLE = in_organisation(P.MEMBERS_MANAGE)


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
        change_department(self.actor, department_id=department_id, changes=given.validated_data)
        found = Department.objects.filter(organisation_id=self.actor.organisation(), pk=department_id).first()
        if found is None:
            raise NotFound
        return Response(DepartmentOut(found).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, department_id: UUID) -> Response:
        """Only an empty one."""
        departments.delete_department(self.actor, department_id=department_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
