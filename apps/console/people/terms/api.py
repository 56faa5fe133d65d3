"""/api/v1/console/organisations/<id>/: its packages, its weight and its limits."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.proposals import CreditLimit
from apps.billing.changes.services import submit
from apps.billing.requests.selectors import restriction
from apps.billing.requests.services import restrict_packages
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import fields_named
from apps.console.kit.quotas import LEVEL, QuotaIn, QuotaOut, asked_level, gpu_models, set_limits
from apps.console.people.organisations import selectors as organisations
from apps.tenants.choices import Resource
from apps.tenants.selectors import level_lines
from apps.tenants.services.organisations import set_weight

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class PackagesOut(serializers.Serializer[Any]):
    """`packages` null: it may use all of them."""

    packages = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), allow_null=True, max_length=1000
    )


@extend_schema(tags=["console: organisations"])
class OrganisationPackages(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=PackagesOut)
    def get(self, request: Request, organisation_id: UUID) -> Response:
        organisations.get(self.actor, organisation_id)
        return Response({"packages": restriction(organisation_id)})

    @extend_schema(request=PackagesOut, responses=PackagesOut)
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Limit the organisation to these packages, or with null to none in particular."""
        given = PackagesOut(data=request.data)
        given.is_valid(raise_exception=True)
        restrict_packages(self.actor, organisation_id=organisation_id, package_ids=given.validated_data["packages"])
        return self.get(request, organisation_id)


class WeightIn(serializers.Serializer[Any]):
    weight = serializers.IntegerField(min_value=1, max_value=100)


@extend_schema(tags=["console: organisations"], request=WeightIn, responses=WeightIn)
class OrganisationWeight(ScopedView):
    access = MANAGE

    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Its share of what is free, relative to other organisations'."""
        given = WeightIn(data=request.data)
        given.is_valid(raise_exception=True)
        set_weight(self.actor, organisation_id=organisation_id, weight=given.validated_data["weight"])
        return Response(given.validated_data)


@extend_schema(tags=["console: organisations"], parameters=LEVEL)
class Quotas(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=QuotaOut(many=True))
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """Every resource with what is in use and its limit: the organisation's, a department's or a person's."""
        organisations.get(self.actor, organisation_id)
        level = asked_level(request.query_params, organisation_id)
        lines = level_lines(organisation_id, models=gpu_models(), **level)
        return Response(QuotaOut(lines, many=True).data)

    @extend_schema(request=QuotaIn(many=True), responses=QuotaOut(many=True))
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set the limits of the resources that are named; the others stay."""
        given = QuotaIn(data=request.data, many=True)
        given.is_valid(raise_exception=True)
        organisations.get(self.actor, organisation_id)
        level = asked_level(request.query_params, organisation_id)
        limits = {(Resource(row["resource"]), row["model"]): row["limit"] for row in given.validated_data}
        set_limits(self.actor, organisation_id=organisation_id, limits=limits, **level)
        return self.get(request, organisation_id)


class CreditIn(serializers.Serializer[Any]):
    credit_limit_fen = serializers.IntegerField(min_value=0)


@extend_schema(tags=["console: organisations"])
class OrganisationCredit(ScopedView):
    access = on_platform(P.PLATFORM_RECHARGE)

    @extend_schema(request=CreditIn, responses={200: CreditIn, 202: ChangeRequestRef})
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """How far its wallet may go below zero. 202 with a request where one person may not grant so much alone."""
        given = CreditIn(data=request.data)
        given.is_valid(raise_exception=True)
        with fields_named(credit_limit="credit_limit_fen"):
            made = submit(self.actor, CreditLimit(organisation_id, **given.validated_data))
        if made.request is not None:
            return Response(ChangeRequestRef(made.request).data, status=status.HTTP_202_ACCEPTED)
        return Response(given.validated_data)
