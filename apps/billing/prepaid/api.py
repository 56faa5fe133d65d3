"""/api/v1/.../prepaid/: time paid by the day, month or year. Amounts are fen, times UTC; periods are half-open."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import PREPAID_TERMS, PrepaidEnd, PrepaidStatus, Term
from apps.billing.models import PrepaidOrder, TermPrice
from apps.billing.prepaid import changes as prepaid_changes
from apps.billing.prepaid import selectors as reads
from apps.billing.prepaid import services as prepaid
from apps.billing.prepaid.serializers import (
    TERMS,
    PrepaidChangeIn,
    PrepaidOfferOut,
    PrepaidOrderFull,
    PrepaidOrderIn,
    PrepaidOrderOut,
    PrepaidQuoteOut,
    PrepaidRenewalIn,
    PrepaidRenewIn,
)
from apps.billing.prices.own import own_terms
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

TAGS = ["money"]
OWN = in_organisation(Permission.BILLING_VIEW_OWN)
VIEW, PREPAY = in_organisation(Permission.BILLING_VIEW), in_organisation(Permission.BILLING_PREPAY)


class OfferOrder(CreatedCursor):
    ordering: Any = ("package__sort", "id")


@extend_schema(tags=TAGS)
class PrepaidOffers(ScopedView, generics.ListAPIView[TermPrice]):
    """Packages that the person may use and their prices by the period, of one replica."""

    access = OWN
    queryset = TermPrice.objects.none()
    serializer_class = PrepaidOfferOut
    pagination_class = OfferOrder

    def get_queryset(self) -> QuerySet[TermPrice]:
        return reads.offers(self.actor)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "own": own_terms(self.actor)}


QUOTED = [
    OpenApiParameter("package", int, required=True),
    OpenApiParameter("term", str, enum=[term.value for term in PREPAID_TERMS], required=True),
    OpenApiParameter("quantity", int, description="Replicas; 1 by default."),
    OpenApiParameter("periods", int, description="1 by default."),
]


class PrepaidQuoteIn(serializers.Serializer[Any]):
    package = serializers.IntegerField(min_value=1)
    term = serializers.ChoiceField(choices=TERMS)
    quantity = serializers.IntegerField(default=1)
    periods = serializers.IntegerField(default=1)


@extend_schema(tags=TAGS, parameters=QUOTED, responses=PrepaidQuoteOut)
class PrepaidQuoteView(ScopedView):
    access = OWN

    def get(self, request: Request) -> Response:
        """What an order would cost now, from when to when, and what it saves against the hour price."""
        given = PrepaidQuoteIn(data=request.query_params)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        found = reads.prepaid_quote(
            self.actor,
            package_id=data["package"],
            term=Term(data["term"]),
            quantity=data["quantity"],
            periods=data["periods"],
        )
        return Response(PrepaidQuoteOut(found).data)


class PrepaidOrderFilters(django_filters.FilterSet):
    status = django_filters.ChoiceFilter(choices=PrepaidStatus.choices)
    package = django_filters.NumberFilter(field_name="package_id")

    class Meta:
        model = PrepaidOrder
        fields: tuple[str, ...] = ()


@extend_schema(tags=TAGS)
class PrepaidOrders(ScopedView, generics.ListAPIView[PrepaidOrder]):
    access = {"get": VIEW, "post": PREPAY}
    queryset = PrepaidOrder.objects.none()
    serializer_class = PrepaidOrderOut
    pagination_class = CreatedCursor
    filterset_class = PrepaidOrderFilters

    def get_queryset(self) -> QuerySet[PrepaidOrder]:
        return reads.prepaid_orders(self.actor)

    @extend_schema(request=PrepaidOrderIn, responses={201: PrepaidOrderFull})
    def post(self, request: Request) -> Response:
        """Buy periods from now on, paid from the wallet at once. The same `key` again is the same order."""
        given = PrepaidOrderIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        wanted = prepaid.OrderSpec(
            package_id=data["package"],
            term=Term(data["term"]),
            key=data.get("key") or key_of(request._request),
            quantity=data["quantity"],
            periods=data["periods"],
            auto_renew=data["auto_renew"],
            at_end=PrepaidEnd(data["at_end"]),
            seen=_seen(data),
        )
        return _shown(self, prepaid.order(self.actor, wanted=wanted).pk, status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, responses=PrepaidOrderFull)
class PrepaidOrderDetail(ScopedView):
    access = {"get": VIEW, "patch": PREPAY}

    def get(self, request: Request, prepaid_order_id: UUID) -> Response:
        return _shown(self, prepaid_order_id)

    @extend_schema(request=PrepaidRenewalIn)
    def patch(self, request: Request, prepaid_order_id: UUID) -> Response:
        """Whether it renews itself, and what becomes of running work at its end."""
        found = reads.prepaid_order(self.actor, prepaid_order_id)
        given = PrepaidRenewalIn(found, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        data = {"auto_renew": found.auto_renew, "at_end": found.at_end, **given.validated_data}
        prepaid.set_renewal(
            self.actor, order_id=found.pk, auto_renew=data["auto_renew"], at_end=PrepaidEnd(data["at_end"])
        )
        return _shown(self, found.pk)


@extend_schema(tags=TAGS, request=PrepaidRenewIn, responses=PrepaidOrderFull)
class PrepaidRenew(ScopedView):
    access = PREPAY

    def post(self, request: Request, prepaid_order_id: UUID) -> Response:
        """Buy the periods that follow `after`, the end that you saw; the same again changes nothing."""
        given = PrepaidRenewIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        prepaid.renew(
            self.actor,
            order_id=prepaid_order_id,
            after=data["after"],
            periods=data["periods"],
            seen=_seen(data),
        )
        return _shown(self, prepaid_order_id)


@extend_schema(tags=TAGS, request=PrepaidChangeIn, responses=PrepaidOrderFull)
class PrepaidChange(ScopedView):
    access = PREPAY

    def post(self, request: Request, prepaid_order_id: UUID) -> Response:
        """Another package or number of replicas for the time that is left, pro rata; answers with the new order."""
        given = PrepaidChangeIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        made = prepaid_changes.change(
            self.actor,
            order_id=prepaid_order_id,
            package_id=data["package"],
            quantity=data["quantity"],
            seen=_seen(data),
        )
        return _shown(self, made.pk)


@extend_schema(tags=TAGS, request=None, responses=PrepaidOrderFull)
class PrepaidGiveBack(ScopedView):
    access = PREPAY

    def post(self, request: Request, prepaid_order_id: UUID) -> Response:
        """End it now; the unused part returns to the wallet."""
        prepaid_changes.give_back(self.actor, order_id=prepaid_order_id)
        return _shown(self, prepaid_order_id)


def _seen(data: Mapping[str, Any]) -> prepaid.SeenTerms:
    return prepaid.SeenTerms(data.get("price"), data.get("discount_off"))


def _shown(view: ScopedView, order_id: UUID, code: int = status.HTTP_200_OK) -> Response:
    return Response(PrepaidOrderFull(reads.prepaid_order(view.actor, order_id)).data, status=code)
