"""/api/v1/organisation/quotas/ and run-times/: limits of the organisation, its departments and its people."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.quotas import LEVEL, QuotaIn, QuotaOut, asked_level, gpu_models, set_limits
from apps.console.kit.run_times import RunTimeOut
from apps.tenants.choices import Resource
from apps.tenants.selectors import level_lines
from apps.workloads.time_limits import limit_lines


@extend_schema(tags=["organisation"], parameters=LEVEL)
class OrganisationQuotas(ScopedView):
    access = {"get": in_organisation(P.QUOTAS_VIEW), "put": in_organisation(P.QUOTAS_MANAGE)}

    def _level(self, request: Request) -> dict[str, Any]:
        return asked_level(request.query_params, self.actor.organisation())

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
