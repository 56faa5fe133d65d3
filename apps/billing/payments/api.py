"""/api/v1/.../top-ups/: paying into the wallet by Alipay."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import TopUpStatus
from apps.billing.models import TopUpOrder
from apps.billing.payments.addresses import addresses
from apps.billing.payments.alipay import orders
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

TAGS = ["money"]
VIEW = in_organisation(Permission.BILLING_VIEW)
TOP_UP = in_organisation(Permission.BILLING_TOP_UP)


class TopUpOut(serializers.Serializer[TopUpOrder]):
    out_trade_no = serializers.CharField(read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    status = serializers.ChoiceField(choices=TopUpStatus.choices, read_only=True)
    by = serializers.CharField(source="user.username", allow_null=True, default=None, read_only=True)
    trade_no = serializers.CharField(read_only=True)
    refunded_fen = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    paid_at = serializers.DateTimeField(allow_null=True, read_only=True)


class TopUpMade(TopUpOut):
    pay_url = serializers.SerializerMethodField(
        help_text="The payment page, for a browser; it can be paid until expires_at."
    )

    def get_pay_url(self, order: TopUpOrder) -> str:
        url: str = self.context["pay_url"]
        return url


class TopUpIn(serializers.Serializer[Any]):
    amount_fen = serializers.IntegerField(min_value=1)


@extend_schema(tags=TAGS)
class TopUps(ScopedView, generics.ListAPIView[TopUpOrder]):
    access = {"get": VIEW, "post": TOP_UP}
    queryset = TopUpOrder.objects.none()
    serializer_class = TopUpOut
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[TopUpOrder]:
        return orders.orders(self.actor)

    @extend_schema(request=TopUpIn, responses={201: TopUpMade})
    def post(self, request: Request) -> Response:
        """Start a payment. It credits the wallet when Alipay confirms it; poll the order, or take the webhook."""
        given = TopUpIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = orders.start(self.actor, amount_fen=given.validated_data["amount_fen"])
        url = orders.pay_url(self.actor, made, addresses(request._request))
        found = orders.order(self.actor, made.out_trade_no)
        return Response(TopUpMade(found, context={"pay_url": url}).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, responses=TopUpOut)
class TopUpDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, out_trade_no: str) -> Response:
        return Response(TopUpOut(orders.order(self.actor, out_trade_no)).data)


@extend_schema(tags=TAGS, request=None, responses=TopUpOut)
class TopUpCancel(ScopedView):
    access = TOP_UP

    def post(self, request: Request, out_trade_no: str) -> Response:
        """Close an unpaid payment here and at Alipay. What was paid meanwhile is credited instead."""
        orders.cancel(self.actor, orders.order(self.actor, out_trade_no))
        return Response(TopUpOut(orders.order(self.actor, out_trade_no)).data)
