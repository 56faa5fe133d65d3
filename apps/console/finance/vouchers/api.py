"""/api/v1/console/vouchers/: granted, used, taken back."""

from typing import Any
from uuid import uuid4

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import VoucherScope
from apps.billing.models import RechargeRequest, Voucher
from apps.billing.payments import recharge_review
from apps.billing.vouchers import selectors as reads
from apps.billing.vouchers.api import VoucherOut
from apps.billing.vouchers.services import void_voucher
from apps.billing.vouchers.terms import NOTE_MAX, VoucherSpec
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.recharges.api import RechargeRequestOut
from apps.console.finance.vouchers.listing import VoucherFilter
from apps.console.kit.api import Named, fields_named

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
GRANT = on_platform(P.PLATFORM_RECHARGE)
TAGS = ["console: finance"]


class ConsoleVoucherOut(VoucherOut):
    organisation = Named(read_only=True)
    issued_by = serializers.CharField(read_only=True)
    transfer = serializers.IntegerField(source="transfer_id", read_only=True)


class VoucherIn(serializers.Serializer[Any]):
    """`package_id` with scope `package`, `gpu_model` with scope `gpu_model`. Days of the billing zone, both in."""

    organisation_id = serializers.UUIDField()
    amount_fen = serializers.IntegerField(min_value=1)
    scope = serializers.ChoiceField(choices=VoucherScope.choices)
    package_id = serializers.IntegerField(required=False, allow_null=True, default=None)
    gpu_model = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    valid_from = serializers.DateField()
    valid_until = serializers.DateField()
    note = serializers.CharField(max_length=NOTE_MAX, required=False, allow_blank=True, default="")


class VoidIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=NOTE_MAX)


@extend_schema(tags=TAGS)
class Vouchers(ScopedView, generics.ListAPIView[Voucher]):
    access = {"get": VIEW, "post": GRANT}
    queryset = Voucher.objects.none()
    serializer_class = ConsoleVoucherOut
    pagination_class = CreatedCursor
    filterset_class = VoucherFilter

    def get_queryset(self) -> QuerySet[Voucher]:
        return reads.vouchers(self.actor)

    @extend_schema(request=VoucherIn, responses={201: ConsoleVoucherOut, 202: RechargeRequestOut})
    def post(self, request: Request) -> Response:
        """Grant one. The same Idempotency-Key again is the same voucher; with other terms it is a conflict (409).

        202 with a request where it is more than one person may grant alone.
        """
        given = VoucherIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = dict(given.validated_data)
        organisation_id = data.pop("organisation_id")
        key = key_of(request._request) or uuid4().hex
        with fields_named(amount="amount_fen", package="package_id"):
            made = recharge_review.grant(
                self.actor,
                organisation_id=organisation_id,
                spec=VoucherSpec(**{**data, "scope": VoucherScope(data["scope"])}),
                key=key,
            )
        if isinstance(made, RechargeRequest):
            return Response(RechargeRequestOut(made).data, status=status.HTTP_202_ACCEPTED)
        return Response(ConsoleVoucherOut(reads.voucher(self.actor, made.pk)).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, responses=ConsoleVoucherOut)
class VoucherDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, voucher_id: int) -> Response:
        return Response(ConsoleVoucherOut(reads.voucher(self.actor, voucher_id)).data)


@extend_schema(tags=TAGS, request=VoidIn, responses=ConsoleVoucherOut)
class VoucherVoid(ScopedView):
    access = GRANT

    def post(self, request: Request, voucher_id: int) -> Response:
        """Take back what is left, after charging what was used until now. 409 where nothing is left or it is over."""
        given = VoidIn(data=request.data)
        given.is_valid(raise_exception=True)
        void_voucher(self.actor, voucher_id=voucher_id, reason=given.validated_data["reason"])
        return Response(ConsoleVoucherOut(reads.voucher(self.actor, voucher_id)).data)
