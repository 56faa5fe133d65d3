"""/api/v1/console/alipay-payments/: payments by Alipay of all organisations."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.choices import NoticeOutcome
from apps.billing.models import BillItem, TopUpNotice, TopUpOrder
from apps.billing.payments.alipay import looking
from apps.billing.payments.api import TopUpOut
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.alipay_payments.listing import AlipayPaymentFilter
from apps.console.kit.api import Named

TAGS = ["console: finance"]
VIEW, ACT = on_platform(P.PLATFORM_FINANCE_VIEW), on_platform(P.PLATFORM_RECHARGE)


class AlipayPaymentOut(TopUpOut):
    """`outcome`: what reconciliation said; null: not compared yet. `recharge`: the ledger entry that credited it."""

    organisation = Named(read_only=True)
    channel = serializers.CharField(allow_null=True, read_only=True, help_text="web, api or task; null: not known.")
    closed_at = serializers.DateTimeField(allow_null=True, read_only=True)
    recharge = serializers.IntegerField(source="transfer_id", allow_null=True, read_only=True)
    outcome = serializers.ChoiceField(choices=BillOutcome.choices, allow_null=True, read_only=True)


class AlipayNoticeOut(serializers.Serializer[TopUpNotice]):
    """A signed notice of Alipay's; `heard`: how often it came, from `at` to `last_at`."""

    notify_id = serializers.CharField(read_only=True)
    trade_status = serializers.CharField(read_only=True)
    total_fen = serializers.IntegerField(read_only=True)
    refund_fen = serializers.IntegerField(allow_null=True, read_only=True)
    outcome = serializers.ChoiceField(choices=NoticeOutcome.choices, read_only=True)
    heard = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True)


class ComparedOut(serializers.Serializer[BillItem]):
    """A payment or refund as Alipay's bill and our books have it, fen; null: the side does not have it."""

    id = serializers.IntegerField(read_only=True)
    day = serializers.DateField(read_only=True)
    kind = serializers.ChoiceField(choices=BillItemKind.choices, read_only=True)
    outcome = serializers.ChoiceField(choices=BillOutcome.choices, read_only=True)
    theirs_fen = serializers.IntegerField(allow_null=True, read_only=True)
    ours_fen = serializers.IntegerField(allow_null=True, read_only=True)


class AlipayPaymentFull(AlipayPaymentOut):
    notices = AlipayNoticeOut(many=True, read_only=True)
    compared = ComparedOut(many=True, read_only=True)


class AnswerOut(serializers.Serializer[Any]):
    """The state and the amount as Alipay has them; `fen` null: it knows nothing of the payment."""

    status = serializers.CharField(read_only=True)
    fen = serializers.IntegerField(allow_null=True, read_only=True)


@extend_schema(tags=TAGS)
class AlipayPayments(ScopedView, generics.ListAPIView[TopUpOrder]):
    """Every payment by Alipay, paid or not, newest first."""

    access = VIEW
    queryset = TopUpOrder.objects.none()
    serializer_class = AlipayPaymentOut
    pagination_class = CreatedCursor
    filterset_class = AlipayPaymentFilter

    def get_queryset(self) -> QuerySet[TopUpOrder]:
        return looking.payments(self.actor)


@extend_schema(tags=TAGS, responses=AlipayPaymentFull)
class AlipayPaymentDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, out_trade_no: str) -> Response:
        """One of them with the notices heard and what reconciliation said."""
        order: Any = looking.payment(self.actor, out_trade_no)
        order.compared = looking.compared_of(order)
        return Response(AlipayPaymentFull(order).data)


@extend_schema(tags=TAGS, request=None, responses=AnswerOut)
class AlipayPaymentAsk(ScopedView):
    access = ACT

    def post(self, request: Request, out_trade_no: str) -> Response:
        """Ask Alipay again and act on the answer: what it confirms as paid is credited, once."""
        return Response(AnswerOut(looking.ask_again(self.actor, out_trade_no)).data)
