"""/api/v1/packages/: packages on offer, at the organisation's own prices."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers

from apps.billing.api_fields import exact
from apps.billing.models import Package
from apps.billing.prices.own import OwnPrices, own_terms
from apps.billing.prices.packages.selectors import packages
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

OWN = in_organisation(Permission.BILLING_VIEW_OWN)


class PackageSerializer(serializers.ModelSerializer[Package]):
    """Rates of one replica; null: no price yet, so it cannot be started. `rate_fen_per_hour`: what the organisation
    pays, its discount taken off what is listed, as a quote has it.
    """

    rate_fen_per_hour = serializers.SerializerMethodField()
    list_rate_fen_per_hour = exact(source="price.rate_fen_per_hour", allow_null=True, default=None)
    price_version = serializers.IntegerField(source="price.number", allow_null=True, default=None)

    class Meta:
        model = Package
        fields = (
            "id",
            "name_en",
            "name_zh",
            "description_en",
            "description_zh",
            "isolation",
            "cpu_milli",
            "memory_mib",
            "gpu_count",
            "gpu_model",
            "gpu_mode",
            "gpu_core_milli",
            "gpu_memory_mib",
            "mig_profile",
            "rdma",
            "term",
            "rate_fen_per_hour",
            "list_rate_fen_per_hour",
            "price_version",
        )

    @extend_schema_field(exact(allow_null=True))
    def get_rate_fen_per_hour(self, row: Package) -> str | None:
        own: OwnPrices = self.context["own"]
        return None if row.price is None else f"{own.rate(row.price.rate_fen_per_hour):.10f}"


class PackageOrder(CreatedCursor):
    ordering: Any = ("sort", "id")


@extend_schema(tags=["money"])
class PackageList(ScopedView, generics.ListAPIView[Package]):
    """Packages on offer with the price in force."""

    access = OWN
    serializer_class = PackageSerializer
    pagination_class: type[CreatedCursor] = PackageOrder
    queryset = Package.objects.none()

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "own": own_terms(self.actor)}

    def get_queryset(self) -> QuerySet[Package]:
        return packages(self.actor)
