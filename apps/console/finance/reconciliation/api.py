"""/api/v1/console/reconciliation/: our books beside Alipay's bills, and what is done about the differences."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillSource, BillState
from apps.billing.models import BillDay, BillItem
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import selectors as reads
from apps.billing.payments.reconciliation.download import MOST_BYTES
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.finance.reconciliation.listing import BillDayFilter, BillItemListFilter
from apps.console.kit.api import ByKey, Named, fields_named
from apps.console.kit.days import day_of

TAGS = ["console: finance"]
VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
ACT = on_platform(P.PLATFORM_RECHARGE)


class ByDay(ByKey):
    ordering = "-day"


class BillDayOut(serializers.Serializer[BillDay]):
    """Amounts are payments less refunds; `difference_fen` is Alipay's less ours; `open` need somebody."""

    day = serializers.DateField(read_only=True)
    state = serializers.ChoiceField(choices=BillState.choices, read_only=True)
    payments = serializers.IntegerField(read_only=True)
    theirs_fen = serializers.IntegerField(read_only=True)
    ours_fen = serializers.IntegerField(read_only=True)
    difference_fen = serializers.IntegerField(read_only=True)
    fees_fen = serializers.IntegerField(read_only=True)
    open = serializers.IntegerField(read_only=True)
    sha256 = serializers.CharField(source="bill.digest", allow_null=True, default=None, read_only=True)
    problem = serializers.CharField(read_only=True)
    compared_at = serializers.DateTimeField(allow_null=True, read_only=True)
    next_try_at = serializers.DateTimeField(allow_null=True, read_only=True)


class BillItemOut(serializers.Serializer[BillItem]):
    """A payment or refund; the side that does not have it is null. `fee_fen` is what Alipay kept of it."""

    id = serializers.IntegerField(read_only=True)
    day = serializers.DateField(read_only=True)
    kind = serializers.ChoiceField(choices=BillItemKind.choices, read_only=True)
    outcome = serializers.ChoiceField(choices=BillOutcome.choices, read_only=True)
    open = serializers.BooleanField(source="is_open", read_only=True)
    organisation = Named(allow_null=True, read_only=True)
    out_trade_no = serializers.CharField(read_only=True)
    out_request_no = serializers.CharField(read_only=True)
    trade_no = serializers.CharField(read_only=True)
    theirs_fen = serializers.IntegerField(allow_null=True, read_only=True)
    ours_fen = serializers.IntegerField(allow_null=True, read_only=True)
    fee_fen = serializers.IntegerField(read_only=True)
    paid_at = serializers.DateTimeField(allow_null=True, read_only=True)
    note = serializers.CharField(read_only=True)
    closed_by = serializers.CharField(source="closed_by.username", allow_null=True, default=None, read_only=True)
    closed_at = serializers.DateTimeField(allow_null=True, read_only=True)


class BillIn(serializers.Serializer[Any]):
    bill = serializers.FileField(help_text="The zip as Alipay gives it, or the file with the payments in it.")

    def validate_bill(self, file: Any) -> bytes:
        if file.size > MOST_BYTES:
            raise serializers.ValidationError("Larger than any bill.")
        content: bytes = file.read()
        return content


class BillCreditIn(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Only where neither an order nor the number tells."
    )


class BillNoteIn(serializers.Serializer[Any]):
    note = serializers.CharField(max_length=reconciliation_acts.NOTE_MAX)


class BillCreditedOut(serializers.Serializer[reconciliation_acts.Credited]):
    credited = serializers.IntegerField(read_only=True)
    left = serializers.IntegerField(read_only=True)


class AlipaySaidOut(serializers.Serializer[reconciliation_acts.GatewayAnswer]):
    """`fen` null: Alipay knows nothing of it."""

    status = serializers.CharField(read_only=True)
    fen = serializers.IntegerField(allow_null=True, read_only=True)


@extend_schema(tags=TAGS)
class BillDays(ScopedView, generics.ListAPIView[BillDay]):
    access = VIEW
    queryset = BillDay.objects.none()
    serializer_class = BillDayOut
    pagination_class = ByDay
    filterset_class = BillDayFilter

    def get_queryset(self) -> QuerySet[BillDay]:
        return reads.bill_days(self.actor)


@extend_schema(tags=TAGS, responses=BillDayOut)
class BillDayDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, bill_day: str) -> Response:
        return Response(BillDayOut(reads.bill_day(self.actor, day_of(bill_day))).data)


@extend_schema(tags=TAGS, request=None, responses={202: BillDayOut})
class BillDayFetch(ScopedView):
    access = ACT

    def post(self, request: Request, bill_day: str) -> Response:
        """Have the day's bill fetched again, within seconds; read the day to see what came of it."""
        row = reads.bill_day(self.actor, day_of(bill_day))
        reconciliation.request_bill(self.actor, row.day)
        return Response(BillDayOut(reads.bill_day(self.actor, row.day)).data, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=TAGS, request={"multipart/form-data": BillIn}, responses={200: BillDayOut, 201: BillDayOut})
class BillDayBills(ScopedView):
    access = ACT
    parser_classes = [MultiPartParser]

    def post(self, request: Request, bill_day: str) -> Response:
        """Compare a bill that was downloaded by hand: 201 the first time, 200 when the same file comes again."""
        given = BillIn(data=request.data)
        given.is_valid(raise_exception=True)
        day, content = day_of(bill_day), given.validated_data["bill"]
        taken = reconciliation.import_bill(self.actor, day=day, content=content, source=BillSource.UPLOADED)
        code = status.HTTP_201_CREATED if taken.new else status.HTTP_200_OK
        return Response(BillDayOut(reads.bill_day(self.actor, day)).data, status=code)


@extend_schema(tags=TAGS, request=None, responses=BillCreditedOut)
class BillDayCredit(ScopedView):
    access = ACT

    def post(self, request: Request, bill_day: str) -> Response:
        """Credit every payment of the day that only Alipay has and confirms."""
        row = reads.bill_day(self.actor, day_of(bill_day))
        return Response(BillCreditedOut(reconciliation_acts.credit_day(self.actor, row.day)).data)


@extend_schema(tags=TAGS)
class BillItems(ScopedView, generics.ListAPIView[BillItem]):
    access = VIEW
    queryset = BillItem.objects.none()
    serializer_class = BillItemOut
    pagination_class = ByKey
    filterset_class = BillItemListFilter

    def get_queryset(self) -> QuerySet[BillItem]:
        return reads.bill_items(self.actor)


@extend_schema(tags=TAGS, responses=BillItemOut)
class BillItemDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, bill_item_id: int) -> Response:
        return Response(BillItemOut(reads.bill_item(self.actor, bill_item_id)).data)


@extend_schema(tags=TAGS, request=None, responses=AlipaySaidOut)
class BillItemAsk(ScopedView):
    access = ACT

    def post(self, request: Request, bill_item_id: int) -> Response:
        """What Alipay says of it now. An order or refund that we have open is brought to that."""
        return Response(AlipaySaidOut(reconciliation_acts.ask_gateway(self.actor, bill_item_id)).data)


@extend_schema(tags=TAGS, request=BillCreditIn, responses=BillItemOut)
class BillItemCredit(ScopedView):
    access = ACT

    def post(self, request: Request, bill_item_id: int) -> Response:
        """Credit a payment that only Alipay has, once it confirms it. Again: the same answer, nothing more moves."""
        given = BillCreditIn(data=request.data)
        given.is_valid(raise_exception=True)
        with fields_named(organisation="organisation_id"):
            reconciliation_acts.credit(self.actor, bill_item_id, **given.validated_data)
        return Response(BillItemOut(reads.bill_item(self.actor, bill_item_id)).data)


@extend_schema(tags=TAGS, request=None, responses=BillItemOut)
class BillItemTakeOut(ScopedView):
    access = ACT

    def post(self, request: Request, bill_item_id: int) -> Response:
        """Book a refund that only Alipay has: out of the wallet."""
        reconciliation_acts.book_refund(self.actor, bill_item_id)
        return Response(BillItemOut(reads.bill_item(self.actor, bill_item_id)).data)


@extend_schema(tags=TAGS, request=BillNoteIn, responses=BillItemOut)
class BillItemClose(ScopedView):
    access = ACT

    def post(self, request: Request, bill_item_id: int) -> Response:
        """Leave it as it is, with a note. 409 where it is settled already."""
        given = BillNoteIn(data=request.data)
        given.is_valid(raise_exception=True)
        reconciliation_acts.close(self.actor, bill_item_id, note=given.validated_data["note"])
        return Response(BillItemOut(reads.bill_item(self.actor, bill_item_id)).data)
