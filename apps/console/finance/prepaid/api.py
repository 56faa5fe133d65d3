"""/api/v1/console/prepaid-orders/ and a package's prices by the period."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.period_effects import period_effect
from apps.billing.changes.price_proposals import PeriodPrice
from apps.billing.changes.services import submit, try_out, why_second
from apps.billing.choices import Term
from apps.billing.models import PrepaidOrder, TermPrice
from apps.billing.prepaid import selectors as reads
from apps.billing.prepaid.changes import REASON_MAX, give_back
from apps.billing.prepaid.serializers import TERMS, PrepaidOrderFull, PrepaidOrderOut
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.console.finance.prepaid.listing import PrepaidFilter
from apps.console.kit.api import ByKey, Named, fields_named

FINANCE, PACKAGES = ["console: finance"], ["console: packages"]
VIEW, RECHARGE = on_platform(Permission.PLATFORM_FINANCE_VIEW), on_platform(Permission.PLATFORM_RECHARGE)
PRICES = {"get": on_platform(Permission.PLATFORM_PRICES_VIEW), "post": on_platform(Permission.PLATFORM_PRICES_MANAGE)}


class StaffPrepaidOrderOut(PrepaidOrderOut):
    organisation = Named(read_only=True)


class StaffPrepaidOrderFull(PrepaidOrderFull):
    organisation = Named(read_only=True)


class PrepaidGiveBackIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=REASON_MAX)


class TermPriceOut(serializers.Serializer[TermPrice]):
    term = serializers.ChoiceField(choices=TERMS, read_only=True)
    number = serializers.IntegerField(allow_null=True, read_only=True)
    price_fen = serializers.IntegerField(allow_null=True, read_only=True, help_text="null: not offered.")
    effective_from = serializers.DateTimeField(allow_null=True, read_only=True)
    effective_to = serializers.DateTimeField(allow_null=True, read_only=True)


class TermPriceIn(serializers.Serializer[Any]):
    term = serializers.ChoiceField(choices=TERMS)
    price_fen = serializers.IntegerField(
        allow_null=True, min_value=1, help_text="Of one period and replica; null ends the offer for this term."
    )


@extend_schema(tags=FINANCE)
class PrepaidOrders(ScopedView, generics.ListAPIView[PrepaidOrder]):
    """Prepaid orders of all organisations, newest first."""

    access = VIEW
    queryset = PrepaidOrder.objects.none()
    serializer_class = StaffPrepaidOrderOut
    pagination_class = CreatedCursor
    filterset_class = PrepaidFilter

    def get_queryset(self) -> QuerySet[PrepaidOrder]:
        return reads.prepaid_orders(self.actor)


@extend_schema(tags=FINANCE, responses=StaffPrepaidOrderFull)
class PrepaidOrderDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, prepaid_order_id: UUID) -> Response:
        return Response(StaffPrepaidOrderFull(reads.prepaid_order(self.actor, prepaid_order_id)).data)


@extend_schema(tags=FINANCE, request=PrepaidGiveBackIn, responses=StaffPrepaidOrderFull)
class PrepaidGiveBack(ScopedView):
    access = RECHARGE

    def post(self, request: Request, prepaid_order_id: UUID) -> Response:
        """End it now, with a reason; the unused part returns to the organisation's wallet."""
        given = PrepaidGiveBackIn(data=request.data)
        given.is_valid(raise_exception=True)
        give_back(self.actor, order_id=prepaid_order_id, reason=given.validated_data["reason"])
        return Response(StaffPrepaidOrderFull(reads.prepaid_order(self.actor, prepaid_order_id)).data)


@extend_schema(tags=PACKAGES)
class TermPrices(ScopedView, generics.ListAPIView[TermPrice]):
    """All versions of a package's prices by the period, newest first."""

    access = PRICES
    queryset = TermPrice.objects.none()
    serializer_class = TermPriceOut
    pagination_class = ByKey
    filter_backends = ()

    def get_queryset(self) -> QuerySet[TermPrice]:
        package_id = self.kwargs["package_id"]
        if not funds.packages(self.actor, active_only=False).filter(pk=package_id).exists():
            raise NotFound
        return reads.term_price_history(self.actor, package_id=package_id)

    @extend_schema(request=TermPriceIn, responses={200: TermPriceOut, 202: ChangeRequestRef})
    def post(self, request: Request, package_id: int) -> Response:
        """The price of a term from now on. What was bought keeps its price. 202 where it takes a second person."""
        given = TermPriceIn(data=request.data)
        given.is_valid(raise_exception=True)
        term, fen = Term(given.validated_data["term"]), given.validated_data["price_fen"]
        with fields_named(price="price_fen"):
            made = submit(self.actor, PeriodPrice(package_id, term, fen))
        if made.request is not None:
            return Response(ChangeRequestRef(made.request).data, status=status.HTTP_202_ACCEPTED)
        return Response(TermPriceOut(made.result or TermPrice(term=term)).data)


class PeriodTouchedOut(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()
    name = serializers.CharField()
    orders = serializers.IntegerField()
    renewing = serializers.IntegerField()


class PeriodEffectOut(serializers.Serializer[Any]):
    """What the price would do; nothing is changed. Fen.

    `old` and `new` are of one period and replica, null: not offered; `by_hour_fen` is what as many hours cost.
    `used_fen` and `now_fen`: about how much more (below zero: less) comes in within 30 days, by what was bought in the
    last 30 days and by the orders that renew themselves. `top`: up to five organisations, touched most.
    `second_person`: the rule by which it waits for a second person; null: it is made at once.
    """

    old = serializers.IntegerField(allow_null=True)
    new = serializers.IntegerField(allow_null=True)
    by_hour_fen = serializers.IntegerField(allow_null=True)
    organisations = serializers.IntegerField()
    orders = serializers.IntegerField()
    renewing = serializers.IntegerField()
    used_fen = serializers.IntegerField()
    now_fen = serializers.IntegerField()
    top = PeriodTouchedOut(many=True)
    second_person = serializers.CharField(allow_null=True, default=None)


@extend_schema(tags=PACKAGES, request=TermPriceIn, responses=PeriodEffectOut)
class TermPricePreview(ScopedView):
    access = PRICES["post"]

    def post(self, request: Request, package_id: int) -> Response:
        """What the price would do; nothing is changed."""
        given = TermPriceIn(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = PeriodPrice(package_id, Term(given.validated_data["term"]), given.validated_data["price_fen"])
        with fields_named(price="price_fen"):
            try_out(self.actor, wanted)
        effect: Any = PeriodEffectOut(period_effect(self.actor, wanted))
        why = why_second(self.actor, wanted)
        return Response({**effect.data, "second_person": why.value if why else None})
