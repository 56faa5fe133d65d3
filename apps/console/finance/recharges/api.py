"""/api/v1/console/recharges/ and recharge-requests/: recharges, and those that wait for a second person."""

from typing import Any
from uuid import UUID

import django_filters
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing.choices import PaymentMethod, RechargeKind, RequestState, VoucherScope
from apps.billing.models import RechargeRequest, Transfer
from apps.billing.payments import recharge_review
from apps.billing.recharges.received import PAYER_MAX, Received, keep_received
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.listing import RechargeFilter
from apps.console.kit.api import Named, NewestFirst, fields_named

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
RECHARGE = on_platform(P.PLATFORM_RECHARGE)
TAGS = ["console: finance"]


class RechargeOut(serializers.Serializer[Transfer]):
    id = serializers.IntegerField(read_only=True)
    organisation = Named(read_only=True)
    amount_fen = serializers.IntegerField(source="into_wallet_fen", read_only=True)
    reference = serializers.CharField(source="ref", read_only=True)
    note = serializers.CharField(read_only=True)
    paid_on = serializers.DateField(read_only=True, allow_null=True)
    payer = serializers.CharField(read_only=True, allow_null=True)
    method = serializers.ChoiceField(choices=PaymentMethod.choices, read_only=True, allow_null=True)
    asked_by = serializers.CharField(
        source="recharge_request.requested_by.username", allow_null=True, default=None, read_only=True
    )
    by = serializers.CharField(source="actor_label", read_only=True)
    at = serializers.DateTimeField(read_only=True)


class VoucherTerms(serializers.Serializer[Any]):
    scope = serializers.ChoiceField(choices=VoucherScope.choices, read_only=True)
    valid_from = serializers.DateField(read_only=True)
    valid_until = serializers.DateField(read_only=True)
    package_id = serializers.IntegerField(allow_null=True, read_only=True)
    gpu_model = serializers.CharField(read_only=True)


class RechargeRequestOut(serializers.Serializer[RechargeRequest]):
    """What waits, or waited, for a second person. `terms`: of a voucher, its first and last day both in.

    `recharge` is the ledger entry that the approval made, `voucher` the one that it granted.
    """

    id = serializers.UUIDField(read_only=True)
    organisation = Named(read_only=True)
    kind = serializers.ChoiceField(choices=RechargeKind.choices, read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    reference = serializers.CharField(read_only=True)
    note = serializers.CharField(read_only=True)
    reverses = serializers.IntegerField(source="reverses_id", allow_null=True, read_only=True)
    state = serializers.ChoiceField(choices=RequestState.choices, read_only=True)
    requested_by = serializers.CharField(source="requested_by.username", read_only=True)
    decided_by = serializers.CharField(source="decided_by.username", allow_null=True, default=None, read_only=True)
    decided_at = serializers.DateTimeField(allow_null=True, read_only=True)
    answer = serializers.CharField(read_only=True)
    recharge = serializers.IntegerField(source="transfer_id", allow_null=True, read_only=True)
    terms = VoucherTerms(allow_null=True, read_only=True)
    voucher = serializers.IntegerField(source="transfer.voucher.pk", allow_null=True, default=None, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class RechargeIn(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()
    amount_fen = serializers.IntegerField(min_value=1)
    reference = serializers.CharField(max_length=80)
    note = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")
    paid_on = serializers.DateField(required=False, help_text="The day of the payment at the bank; with `payer`.")
    payer = serializers.CharField(required=False, max_length=PAYER_MAX)
    method = serializers.ChoiceField(choices=PaymentMethod.choices, required=False, default=PaymentMethod.BANK)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("paid_on" in attrs) != ("payer" in attrs):
            missing = "payer" if "paid_on" in attrs else "paid_on"
            raise serializers.ValidationError({missing: _("Give the day and the payer together.")})
        return attrs


@extend_schema(tags=["console: finance"])
class Recharges(ScopedView, generics.ListAPIView[Transfer]):
    access = {"get": VIEW, "post": RECHARGE}
    queryset = Transfer.objects.none()
    serializer_class = RechargeOut
    pagination_class = NewestFirst
    filterset_class = RechargeFilter

    def get_queryset(self) -> QuerySet[Transfer]:
        return funds.recharges(self.actor)

    @extend_schema(request=RechargeIn, responses={201: RechargeOut, 200: RechargeOut, 202: RechargeRequestOut})
    def post(self, request: Request) -> Response:
        """Credit a payment: 201 the first time, 200 with the same recharge when its reference comes again.

        202 with a request where it is more than one person may recharge alone. The same reference with another
        amount is a conflict (409).
        """
        given = RechargeIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        method, paid_on, payer = data.pop("method"), data.pop("paid_on", None), data.pop("payer", None)
        with fields_named(amount="amount_fen"), transaction.atomic():
            made = recharge_review.recharge(self.actor, **data)
            if paid_on and payer:
                keep_received(
                    self.actor,
                    organisation_id=data["organisation_id"],
                    reference=data["reference"],
                    received=Received(paid_on, payer, PaymentMethod(method)),
                )
        if isinstance(made, RechargeRequest):
            return Response(RechargeRequestOut(made).data, status=status.HTTP_202_ACCEPTED)
        code = status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK
        return Response(RechargeOut(reads.receipt(self.actor, made.pk).transfer).data, status=code)


@extend_schema(tags=["console: finance"], responses=RechargeOut)
class RechargeDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, transfer_id: int) -> Response:
        return Response(RechargeOut(reads.receipt(self.actor, transfer_id).transfer).data)


class RequestFilters(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=RequestState.choices)
    kind = django_filters.ChoiceFilter(choices=RechargeKind.choices)
    organisation = django_filters.UUIDFilter(field_name="organisation_id")

    class Meta:
        model = RechargeRequest
        fields: tuple[str, ...] = ()


class RechargeAnswerIn(serializers.Serializer[Any]):
    answer = serializers.CharField(max_length=recharge_review.REASON_MAX)


class RechargeReasonIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=300)


@extend_schema(tags=TAGS)
class RechargeRequests(ScopedView, generics.ListAPIView[RechargeRequest]):
    access = VIEW
    queryset = RechargeRequest.objects.none()
    serializer_class = RechargeRequestOut
    pagination_class = CreatedCursor
    filterset_class = RequestFilters

    def get_queryset(self) -> QuerySet[RechargeRequest]:
        return reads.requests(self.actor)


@extend_schema(tags=TAGS, responses=RechargeRequestOut)
class RechargeRequestDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, recharge_request_id: UUID) -> Response:
        return Response(RechargeRequestOut(reads.request_of(self.actor, recharge_request_id)).data)


@extend_schema(tags=TAGS, request=None, responses=RechargeRequestOut)
class Approve(ScopedView):
    access = RECHARGE

    def post(self, request: Request, recharge_request_id: UUID) -> Response:
        """Move the money. 409 for whoever asked, and for what has been decided."""
        recharge_review.approve(self.actor, request_id=recharge_request_id)
        return Response(RechargeRequestOut(reads.request_of(self.actor, recharge_request_id)).data)


@extend_schema(tags=TAGS, request=RechargeAnswerIn, responses=RechargeRequestOut)
class Deny(ScopedView):
    access = RECHARGE

    def post(self, request: Request, recharge_request_id: UUID) -> Response:
        """Refuse with a reason."""
        given = RechargeAnswerIn(data=request.data)
        given.is_valid(raise_exception=True)
        recharge_review.deny(self.actor, request_id=recharge_request_id, answer=given.validated_data["answer"])
        return Response(RechargeRequestOut(reads.request_of(self.actor, recharge_request_id)).data)


@extend_schema(tags=TAGS, request=None, responses=RechargeRequestOut)
class Withdraw(ScopedView):
    access = RECHARGE

    def post(self, request: Request, recharge_request_id: UUID) -> Response:
        """Take one's own request back."""
        recharge_review.withdraw(self.actor, request_id=recharge_request_id)
        return Response(RechargeRequestOut(reads.request_of(self.actor, recharge_request_id)).data)


@extend_schema(tags=TAGS, request=RechargeReasonIn, responses={202: RechargeRequestOut})
class Reverse(ScopedView):
    access = RECHARGE

    def post(self, request: Request, transfer_id: int) -> Response:
        """Ask a second person to take a wrongly recorded recharge back."""
        given = RechargeReasonIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = recharge_review.ask_reversal(self.actor, transfer_id=transfer_id, reason=given.validated_data["reason"])
        return Response(RechargeRequestOut(made).data, status=status.HTTP_202_ACCEPTED)
