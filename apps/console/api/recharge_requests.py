"""/api/v1/console/recharge-requests/: recharges and reversals that a second person decides on."""

from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import RechargeKind, RequestState
from apps.billing.models import RechargeRequest
from apps.billing.payments import recharge_review
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.console.api.finance import RECHARGE, VIEW, RechargeRequestOut
from apps.console.selectors import recharges as reads

TAGS = ["console: finance"]


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
