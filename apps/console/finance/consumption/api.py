"""/api/v1/console/charges/ and consumption/: what was charged, one by one and in totals."""

from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing.models import Charge
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.kit.api import ByKey

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)


class ChargeFilters(django_filters.FilterSet):
    """Days of the billing zone, both included."""

    since = django_filters.DateFilter(field_name="day", lookup_expr="gte")
    until = django_filters.DateFilter(field_name="day", lookup_expr="lte")
    organisation = django_filters.UUIDFilter(field_name="organisation_id")
    workload = django_filters.UUIDFilter(field_name="session__workload_id")

    class Meta:
        model = Charge
        fields: tuple[str, ...] = ()


class ChargeOut(serializers.Serializer[Charge]):
    """exact_fen = seconds × (replicas − covered) × rate_fen_per_hour × (1 − discount_off) ÷ 3600.

    `covered` replicas are paid by a prepaid order.
    `amount_fen` is its part of the run's whole fen; vouchers paid `voucher_exact` of its exact price.
    """

    id = serializers.IntegerField(read_only=True)
    organisation_id = serializers.UUIDField(read_only=True)
    workload_id = serializers.UUIDField(source="session.workload_id", read_only=True)
    workload = serializers.CharField(source="session.label", read_only=True)
    owner = serializers.CharField(source="session.user.username", read_only=True)
    day = serializers.DateField(read_only=True)
    start = serializers.DateTimeField(read_only=True)
    end = serializers.DateTimeField(read_only=True)
    revision = serializers.IntegerField(read_only=True)
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6, read_only=True)
    replicas = serializers.IntegerField(read_only=True)
    covered = serializers.IntegerField(read_only=True)
    rate_fen_per_hour = serializers.DecimalField(source="rate", max_digits=20, decimal_places=10, read_only=True)
    price_version_id = serializers.IntegerField(read_only=True)
    price_number = serializers.IntegerField(source="price_version.number", read_only=True)
    discount_off = serializers.DecimalField(max_digits=5, decimal_places=4, read_only=True)
    exact_fen = serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True)
    voucher_exact = serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    key = serializers.CharField(read_only=True)


class TotalOut(serializers.Serializer[Any]):
    amount_fen = serializers.IntegerField(read_only=True)
    exact_fen = serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True)
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6, read_only=True)


class OrganisationTotalOut(TotalOut):
    organisation_id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)


class WorkloadTotalOut(TotalOut):
    workload_id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(source="label", read_only=True)
    username = serializers.CharField(read_only=True)
    first = serializers.DateTimeField(read_only=True)
    last = serializers.DateTimeField(read_only=True)


class PeriodIn(serializers.Serializer[Any]):
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)


@extend_schema(tags=["console: finance"])
class Charges(ScopedView, generics.ListAPIView[Charge]):
    access = VIEW
    queryset = Charge.objects.none()
    serializer_class = ChargeOut
    pagination_class = ByKey
    filterset_class = ChargeFilters

    def get_queryset(self) -> QuerySet[Charge]:
        return funds.charges(self.actor)


def period(request: Request) -> dict[str, Any]:
    given = PeriodIn(data=request.query_params)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


@extend_schema(tags=["console: finance"], parameters=[PeriodIn], responses=OrganisationTotalOut(many=True))
class OrganisationTotals(ScopedView):
    access = VIEW

    def get(self, request: Request) -> Response:
        """What each organisation consumed, the greatest first."""
        rows = funds.consumption_by_organisation(self.actor, filters=funds.ChargeFilter(**period(request)))
        return Response(OrganisationTotalOut(rows, many=True).data)


@extend_schema(tags=["console: finance"], parameters=[PeriodIn], responses=WorkloadTotalOut(many=True))
class WorkloadTotals(ScopedView):
    access = VIEW

    def get(self, request: Request, organisation_id: UUID) -> Response:
        """What each workload of one organisation consumed, newest first; a thousand at most."""
        filters = funds.ChargeFilter(**period(request), organisation_id=organisation_id)
        rows = funds.consumption_by_workload(self.actor, filters=filters)[:1000]
        return Response(WorkloadTotalOut(rows, many=True).data)
