"""/api/v1/consumption/: what the organisation's money went to, charge by charge, by day, by run and by whom."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.api_fields import exact
from apps.billing.consumption.costs import Dimension, costs, dimensions
from apps.billing.consumption.forms import ConsumptionForm, ConsumptionQuery, Period
from apps.billing.consumption.selectors import charges, consumption_by_day, consumption_by_workload
from apps.billing.models import Charge
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
BY = OpenApiParameter("by", str, enum=Dimension.values, description="By default the organisation's departments.")


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


# Each order has a second key: rows of the same instant must not change places between two pages.
class NewestCharge(CreatedCursor):
    ordering: Any = ("-start", "-id")


class NewestRun(CreatedCursor):
    ordering: Any = ("-last", "workload_id")


class Consumption(ScopedView):
    """What the three lists share: the days asked for, as the page reads them."""

    access = OWN

    def asked(self) -> ConsumptionQuery:
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
        return asked.narrow(charges(self.actor, filters=asked.filters))


class DayList(Consumption):
    @extend_schema(responses=DaySerializer(many=True), parameters=DAYS, tags=["money"])
    def get(self, request: Request) -> Response:
        """One row for each day with charges, newest first; at most a year."""
        asked = self.asked()
        rows = asked.narrow(consumption_by_day(self.actor, filters=asked.filters))
        return Response(DaySerializer(rows, many=True).data)


@extend_schema(tags=["money"], parameters=DAYS)
class WorkloadList(Consumption, generics.ListAPIView[Any]):
    """One row for each run with charges in these days, the latest first."""

    serializer_class = WorkloadSerializer
    pagination_class: type[CreatedCursor] = NewestRun
    queryset = Charge.objects.none()

    def get_queryset(self) -> QuerySet[Any]:
        asked = self.asked()
        return asked.narrow(consumption_by_workload(self.actor, filters=asked.filters))


class CostOut(serializers.Serializer[Any]):
    """One line; `belongs_to`: where a department lies, a member's user name, a package's GPU model.

    By tag, `key` is the tag as tags are compared, and empty for what has none.
    """

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field is called so
    belongs_to = serializers.CharField(source="sub")
    amount_fen = serializers.IntegerField()
    exact_fen = exact()
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6)
    runs = serializers.IntegerField()


class CostList(Consumption):
    @extend_schema(
        responses=CostOut(many=True), parameters=[BY, *(each for each in DAYS if each.name != "q")], tags=["money"]
    )
    def get(self, request: Request) -> Response:
        """The dearest first; the lines add up to the charges of the days. Members see their own runs only.

        By tag a run counts under each tag that it had when its metering began, so that the lines may add up to more.
        """
        allowed = dimensions(self.actor)
        by = request.GET.get("by") or allowed[0].value
        if by not in Dimension.values:
            raise Invalid.field("by", f"{', '.join(Dimension.values)}")
        if Dimension(by) not in allowed:
            self.actor.require(Permission.BILLING_VIEW)
        return Response(CostOut(costs(self.actor, filters=self.asked().filters, by=Dimension(by)), many=True).data)
