"""/api/v1/console/change-requests/: changes of prices and limits that wait for a second person."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes import services
from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.selectors import change_request, change_requests
from apps.billing.models import ChangeRequest
from apps.billing.payments.deciders import REASON_MAX
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.changes.listing import ChangeFilter

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
TAGS = ["console: finance"]


class ChangeAnswerIn(serializers.Serializer[Any]):
    answer = serializers.CharField(max_length=REASON_MAX)


@extend_schema(tags=TAGS)
class ChangeRequests(ScopedView, generics.ListAPIView[ChangeRequest]):
    access = VIEW
    queryset = ChangeRequest.objects.none()
    serializer_class = ChangeRequestRef
    pagination_class = CreatedCursor
    filterset_class = ChangeFilter

    def get_queryset(self) -> QuerySet[ChangeRequest]:
        return change_requests(self.actor)


@extend_schema(tags=TAGS, responses=ChangeRequestRef)
class ChangeRequestDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, change_request_id: UUID) -> Response:
        return Response(ChangeRequestRef(change_request(self.actor, change_request_id)).data)


@extend_schema(tags=TAGS, request=None, responses=ChangeRequestRef)
class ChangeApprove(ScopedView):
    access = VIEW

    def post(self, request: Request, change_request_id: UUID) -> Response:
        """Make the change, with the right that making it needs. 409 for whoever asked, and for what was decided."""
        services.approve(self.actor, request_id=change_request_id)
        return Response(ChangeRequestRef(change_request(self.actor, change_request_id)).data)


@extend_schema(tags=TAGS, request=ChangeAnswerIn, responses=ChangeRequestRef)
class ChangeDeny(ScopedView):
    access = VIEW

    def post(self, request: Request, change_request_id: UUID) -> Response:
        """Refuse with a reason."""
        given = ChangeAnswerIn(data=request.data)
        given.is_valid(raise_exception=True)
        services.deny(self.actor, request_id=change_request_id, answer=given.validated_data["answer"])
        return Response(ChangeRequestRef(change_request(self.actor, change_request_id)).data)


@extend_schema(tags=TAGS, request=None, responses=ChangeRequestRef)
class ChangeWithdraw(ScopedView):
    access = VIEW

    def post(self, request: Request, change_request_id: UUID) -> Response:
        """Take one's own request back."""
        services.withdraw(self.actor, request_id=change_request_id)
        return Response(ChangeRequestRef(change_request(self.actor, change_request_id)).data)
