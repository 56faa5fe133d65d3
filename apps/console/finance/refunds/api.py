"""/api/v1/console/recharges/<id>/refunds/: payments by Alipay that are given back."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import RefundStatus
from apps.billing.models import RechargeRequest, TopUpOrder, TopUpRefund
from apps.billing.payments import recharge_review
from apps.billing.payments.alipay import refunds
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.api import RECHARGE, VIEW, RechargeRequestOut
from apps.console.kit.api import fields_named

TAGS = ["console: finance"]


class RefundOut(serializers.Serializer[TopUpRefund]):
    out_request_no = serializers.CharField(read_only=True)
    out_trade_no = serializers.CharField(source="order.out_trade_no", read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    reason = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(choices=RefundStatus.choices, read_only=True)
    problem = serializers.CharField(read_only=True)
    requested_by = serializers.CharField(source="requested_by.username", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(allow_null=True, read_only=True)


class RefundIn(serializers.Serializer[Any]):
    amount_fen = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=refunds.REASON_MAX)


@extend_schema(tags=TAGS)
class RechargeRefunds(ScopedView, generics.ListAPIView[TopUpRefund]):
    access = {"get": VIEW, "post": RECHARGE}
    queryset = TopUpRefund.objects.none()
    serializer_class = RefundOut
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[TopUpRefund]:
        return refunds.refunds(self.actor).filter(order=self._order(self.kwargs["transfer_id"]))

    @extend_schema(request=RefundIn, responses={201: RefundOut, 202: RechargeRequestOut})
    def post(self, request: Request, transfer_id: int) -> Response:
        """Give it back, in whole or in part: out of the wallet at once; Alipay is asked within seconds.

        202 with a request where it is more than one person may give back alone. 409 beyond what was paid.
        """
        given = RefundIn(data=request.data)
        given.is_valid(raise_exception=True)
        self._order(transfer_id)
        with fields_named(amount="amount_fen"):
            made = recharge_review.refund(self.actor, transfer_id=transfer_id, **given.validated_data)
        if isinstance(made, RechargeRequest):
            return Response(RechargeRequestOut(made).data, status=status.HTTP_202_ACCEPTED)
        return Response(RefundOut(made).data, status=status.HTTP_201_CREATED)

    def _order(self, transfer_id: int) -> TopUpOrder:
        order = refunds.refundable(reads.receipt(self.actor, transfer_id).transfer)
        if order is None:
            raise NotFound
        return order


@extend_schema(tags=TAGS, request=None, responses=RefundOut)
class RefundAsk(ScopedView):
    access = RECHARGE

    def post(self, request: Request, out_request_no: str) -> Response:
        """Ask Alipay at once what became of it, or for it again: under the same number it is the same refund."""
        refund = refunds.refunds(self.actor).filter(out_request_no=out_request_no).first()
        if refund is None:
            raise NotFound
        refunds.carry_out(self.actor, refund)
        return Response(RefundOut(refunds.refunds(self.actor).get(pk=refund.pk)).data)
