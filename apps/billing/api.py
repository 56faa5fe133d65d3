"""The API of money: fen as integers, rates and exact amounts as decimal strings."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing.choices import ArrearsStatus
from apps.billing.forms import Asked, ConsumptionForm, Period
from apps.billing.models import Charge, Package, Transfer
from apps.billing.selectors.own_prices import OwnPrices, own_terms
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

OWN = in_organisation(Permission.BILLING_VIEW_OWN)
DAYS = [
    OpenApiParameter("since", str, description="First day, YYYY-MM-DD; by default the first of the month."),
    OpenApiParameter("until", str, description="Last day, YYYY-MM-DD; by default today."),
    OpenApiParameter("range", str, enum=Period.values, description="Named days, where neither day is given."),
    OpenApiParameter("q", str, description="Part of the run's or the member's name."),
]


def exact(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=30, decimal_places=10, **options)


class WalletSerializer(serializers.Serializer[Any]):
    """Fen; `runs_until` null: nothing that costs is running."""

    balance_fen = serializers.IntegerField()
    held_fen = serializers.IntegerField()
    credit_limit_fen = serializers.IntegerField()
    available_fen = serializers.IntegerField()
    vouchers_fen = serializers.IntegerField(help_text="Left of vouchers; no part of the balance.")
    burn_fen_per_hour = exact()
    runs_until = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(choices=ArrearsStatus.choices)
    grace_until = serializers.DateTimeField(allow_null=True)
    release_at = serializers.DateTimeField(allow_null=True, help_text="When stored data may go, if nothing is paid.")


class RechargeSerializer(serializers.ModelSerializer[Transfer]):
    reference = serializers.CharField(source="ref")
    amount_fen = serializers.IntegerField(source="into_wallet_fen", help_text="Below zero where it was taken back.")

    class Meta:
        model = Transfer
        fields = ("id", "at", "amount_fen", "reference", "note", "actor_label")


class ChargeSerializer(serializers.ModelSerializer[Charge]):
    """One slice: exact_fen = seconds × rate × (1 − discount_off) × (replicas − covered) ÷ 3600.

    `covered` replicas are paid by a prepaid order.
    `amount_fen` is its part of the rating's whole fen; vouchers paid `voucher_exact` of its exact price.
    """

    workload_id = serializers.UUIDField(source="session.workload_id")
    label = serializers.CharField(source="session.label")  # type: ignore[assignment]  # the field is called so
    username = serializers.CharField(source="session.user.username")
    rate_fen_per_hour = exact(source="rate")
    price_version = serializers.IntegerField(source="price_version.number")
    key = serializers.CharField()

    class Meta:
        model = Charge
        fields = (
            "id",
            "workload_id",
            "label",
            "username",
            "day",
            "start",
            "end",
            "revision",
            "replicas",
            "covered",
            "seconds",
            "rate_fen_per_hour",
            "price_version",
            "discount_off",
            "exact_fen",
            "voucher_exact",
            "amount_fen",
            "key",
        )


class DaySerializer(serializers.Serializer[Any]):
    day = serializers.DateField()
    amount_fen = serializers.IntegerField()
    exact_fen = exact()
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6)
    workloads = serializers.IntegerField()


class WorkloadSerializer(serializers.Serializer[Any]):
    workload_id = serializers.UUIDField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field is called so
    username = serializers.CharField()
    amount_fen = serializers.IntegerField()
    exact_fen = exact()
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6)
    first = serializers.DateTimeField()
    last = serializers.DateTimeField()


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
            "term",
            "rate_fen_per_hour",
            "list_rate_fen_per_hour",
            "price_version",
        )

    @extend_schema_field(exact(allow_null=True))
    def get_rate_fen_per_hour(self, row: Package) -> str | None:
        own: OwnPrices = self.context["own"]
        return None if row.price is None else f"{own.rate(row.price.rate_fen_per_hour):.10f}"


# Each order has a second key: rows of the same instant must not change places between two pages.
class NewestTransfer(CreatedCursor):
    ordering: Any = ("-at", "-id")


class NewestCharge(CreatedCursor):
    ordering: Any = ("-start", "-id")


class NewestRun(CreatedCursor):
    ordering: Any = ("-last", "workload_id")


class PackageOrder(CreatedCursor):
    ordering: Any = ("sort", "id")


class WalletView(ScopedView):
    access = OWN

    @extend_schema(responses=WalletSerializer, tags=["money"])
    def get(self, request: Request) -> Response:
        """The organisation's money now."""
        return Response(WalletSerializer(funds.wallet(self.actor)).data)


@extend_schema(tags=["money"])
class RechargeList(ScopedView, generics.ListAPIView[Transfer]):
    """Top-ups of the organisation, newest first."""

    access = in_organisation(Permission.BILLING_VIEW)
    serializer_class = RechargeSerializer
    pagination_class: type[CreatedCursor] = NewestTransfer
    queryset = Transfer.objects.none()

    def get_queryset(self) -> QuerySet[Transfer]:
        return funds.recharges(self.actor)


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
        return funds.packages(self.actor)


class Consumption(ScopedView):
    """What the three lists share: the days asked for, as the page reads them."""

    access = OWN

    def asked(self) -> Asked:
        form = ConsumptionForm(self.request.GET)
        asked = form.asked()
        if form.errors:
            fields = {name: str(texts[0]) for name, texts in form.errors.items()}
            raise Invalid(next(iter(fields.values())), fields=fields)
        return asked


@extend_schema(tags=["money"], parameters=DAYS)
class ChargeList(Consumption, generics.ListAPIView[Charge]):
    """Charges, newest first: one's own runs, or the organisation's for who looks after its money."""

    serializer_class = ChargeSerializer
    pagination_class: type[CreatedCursor] = NewestCharge
    queryset = Charge.objects.none()

    def get_queryset(self) -> QuerySet[Charge]:
        asked = self.asked()
        return asked.narrow(funds.charges(self.actor, filters=asked.filters))


class DayList(Consumption):
    @extend_schema(responses=DaySerializer(many=True), parameters=DAYS, tags=["money"])
    def get(self, request: Request) -> Response:
        """One row for each day with charges, newest first; at most a year."""
        asked = self.asked()
        rows = asked.narrow(funds.consumption_by_day(self.actor, filters=asked.filters))
        return Response(DaySerializer(rows, many=True).data)


@extend_schema(tags=["money"], parameters=DAYS)
class WorkloadList(Consumption, generics.ListAPIView[Any]):
    """One row for each run with charges in these days, the latest first."""

    serializer_class = WorkloadSerializer
    pagination_class: type[CreatedCursor] = NewestRun
    queryset = Charge.objects.none()

    def get_queryset(self) -> QuerySet[Any]:
        asked = self.asked()
        return asked.narrow(funds.consumption_by_workload(self.actor, filters=asked.filters))
