"""/api/v1/organisation/: departments and quotas of the organisation that one works in."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByName
from apps.console.kit.quotas import QuotaIn, QuotaOut, gpu_models, set_limits
from apps.console.organisation.filters import DepartmentFilter
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Membership
from apps.tenants.selectors import level_lines
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


LEVEL = [
    OpenApiParameter("department", UUID, description="The department's books, with everything below it."),
    OpenApiParameter("user", int, description="The person's books. Neither: the whole organisation's."),
]


@extend_schema(tags=["organisation"], parameters=LEVEL)
class OrganisationQuotas(ScopedView):
    access = {"get": in_organisation(P.QUOTAS_VIEW), "put": in_organisation(P.QUOTAS_MANAGE)}

    def _level(self, request: Request) -> dict[str, Any]:
        asked = request.query_params
        organisation_id = self.actor.organisation()
        try:
            if asked.get("department"):
                level: dict[str, Any] = {"department_id": UUID(asked["department"])}
                known = Department.objects.filter(organisation_id=organisation_id, pk=level["department_id"]).exists()
            elif asked.get("user"):
                level = {"user_id": int(asked["user"])}
                members = Membership.objects.filter(organisation_id=organisation_id)
                known = members.filter(user_id=level["user_id"]).exists()
            else:
                return {}
        except (ValueError, OverflowError) as error:
            raise Invalid("Name a department or a person by id.") from error
        if not known:
            raise NotFound
        return level

    @extend_schema(responses=QuotaOut(many=True))
    def get(self, request: Request) -> Response:
        """Every resource and accelerator model with what is in use and its limit."""
        lines = level_lines(self.actor.organisation(), models=gpu_models(), **self._level(request))
        return Response(QuotaOut(lines, many=True).data)

    @extend_schema(request=QuotaIn(many=True), responses=QuotaOut(many=True))
    def put(self, request: Request) -> Response:
        """Set the limits of a department or a person that are named; the others stay."""
        given = QuotaIn(data=request.data, many=True)
        given.is_valid(raise_exception=True)
        limits = {(Resource(row["resource"]), row["model"]): row["limit"] for row in given.validated_data}
        set_limits(self.actor, organisation_id=self.actor.organisation(), limits=limits, **self._level(request))
        return self.get(request)
