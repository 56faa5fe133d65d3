"""/api/v1/package-requests/ and the console's: asking for packages that need approval, and deciding."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import RequestState
from apps.billing.models import PackageRequest
from apps.billing.requests import selectors as reads
from apps.billing.requests import services as review
from apps.common.access import in_organisation, on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.kit.api import Person
from apps.console.people.requests.listing import PlatformRequestFilter, RequestFilter

OWN = in_organisation(P.BILLING_VIEW_OWN)
REVIEW = in_organisation(P.PACKAGES_REVIEW)
PLATFORM = on_platform(P.PLATFORM_PACKAGES_REVIEW)


class RequestOut(serializers.Serializer[PackageRequest]):
    """`expires_at` of an approval; null: it holds until it is taken back."""

    id = serializers.UUIDField(read_only=True)
    organisation_id = serializers.UUIDField(read_only=True)
    user = Person(read_only=True)
    package_id = serializers.IntegerField(read_only=True)
    reason = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=RequestState.choices, read_only=True)
    answer = serializers.CharField(read_only=True)
    decided_at = serializers.DateTimeField(allow_null=True, read_only=True)
    expires_at = serializers.DateTimeField(allow_null=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class RequestIn(serializers.Serializer[Any]):
    package_id = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    reason = serializers.CharField(max_length=review.REASON_MAX)


class ApprovalIn(serializers.Serializer[Any]):
    """Without `days`, as the platform's settings say."""

    answer = serializers.CharField(max_length=review.REASON_MAX, required=False, allow_blank=True, default="")
    days = serializers.IntegerField(min_value=1, max_value=3660, required=False, allow_null=True, default=None)


class AnswerIn(serializers.Serializer[Any]):
    answer = serializers.CharField(max_length=review.REASON_MAX)


@extend_schema(tags=["packages"])
class PackageRequests(ScopedView, generics.ListAPIView[PackageRequest]):
    """One's own requests, newest first; everyone's for who reviews them."""

    access = OWN
    queryset = PackageRequest.objects.none()
    serializer_class = RequestOut
    pagination_class = CreatedCursor
    filterset_class = RequestFilter

    def get_queryset(self) -> QuerySet[PackageRequest]:
        return reads.requests(self.actor)

    @extend_schema(request=RequestIn, responses={201: RequestOut})
    def post(self, request: Request) -> Response:
        """Ask for a package that needs approval."""
        given = RequestIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = review.request_package(self.actor, **given.validated_data)
        return Response(RequestOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=["packages"], request=None, responses={204: None})
class PackageRequestWithdraw(ScopedView):
    access = OWN

    def post(self, request: Request, request_id: UUID) -> Response:
        """Take one's own open request back."""
        review.withdraw_request(self.actor, request_id=request_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Decision(ScopedView):
    """Subclasses say what is decided and what comes with it."""

    access = REVIEW
    given: type[serializers.Serializer[Any]]
    decide: Callable[..., PackageRequest]

    def post(self, request: Request, request_id: UUID) -> Response:
        told = self.given(data=request.data)
        told.is_valid(raise_exception=True)
        found = type(self).decide(self.actor, request_id=request_id, **told.validated_data)
        return Response(RequestOut(found).data)


@extend_schema(tags=["packages"], request=ApprovalIn, responses=RequestOut)
class PackageRequestApprove(Decision):
    given = ApprovalIn
    decide = staticmethod(review.approve)


@extend_schema(tags=["packages"], request=AnswerIn, responses=RequestOut)
class PackageRequestDeny(Decision):
    given = AnswerIn
    decide = staticmethod(review.deny)


@extend_schema(tags=["console: packages"])
class ConsoleRequests(ScopedView, generics.ListAPIView[PackageRequest]):
    """Requests of every organisation, newest first."""

    access = PLATFORM
    queryset = PackageRequest.objects.none()
    serializer_class = RequestOut
    pagination_class = CreatedCursor
    filterset_class = PlatformRequestFilter

    def get_queryset(self) -> QuerySet[PackageRequest]:
        return reads.requests(self.actor)


@extend_schema(tags=["console: packages"], request=ApprovalIn, responses=RequestOut)
class ConsoleApprove(Decision):
    access = PLATFORM
    given = ApprovalIn
    decide = staticmethod(review.approve)


@extend_schema(tags=["console: packages"], request=AnswerIn, responses=RequestOut)
class ConsoleDeny(Decision):
    access = PLATFORM
    given = AnswerIn
    decide = staticmethod(review.deny)
