"""/api/v1/organisation/quotas/ and run-times/: limits of the organisation, its departments and its people."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.console.kit.quotas import QuotaIn, QuotaOut, gpu_models, set_limits
from apps.console.kit.run_times import RunTimeOut
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Membership
from apps.tenants.selectors import level_lines
from apps.workloads.time_limits import limit_lines

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


@extend_schema(tags=["organisation"], responses=RunTimeOut(many=True))
class OrganisationRunTimes(ScopedView):
    access = in_organisation(P.QUOTAS_VIEW)

    def get(self, request: Request) -> Response:
        """How long one start of each kind of work may run. The platform sets it."""
        return Response(RunTimeOut(limit_lines(self.actor.organisation()), many=True).data)
