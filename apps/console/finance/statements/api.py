"""/api/v1/console/statements/: building, reviewing and issuing them."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.models import Statement
from apps.billing.months import Month
from apps.billing.statements import closing as statements_closing
from apps.billing.statements import selectors as reads
from apps.billing.statements import services as statements
from apps.billing.statements.api import StatementOut, StatementPaperOut
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.statements.listing import StatementFilter
from apps.console.kit.api import Named

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
MANAGE = on_platform(P.PLATFORM_STATEMENTS_MANAGE)
TAGS = ["console: finance"]


class StatementOfOut(StatementOut):
    organisation = Named(read_only=True)
    complete = serializers.BooleanField(read_only=True, help_text="Built when nothing could be added any more.")
    built_at = serializers.DateTimeField(read_only=True)
    reviewed_by = serializers.CharField(source="reviewed_by.username", allow_null=True, default=None, read_only=True)
    reviewed_at = serializers.DateTimeField(allow_null=True, read_only=True)
    issued_by = serializers.CharField(source="issued_by.username", allow_null=True, default=None, read_only=True)
    reason = serializers.CharField(read_only=True, help_text="Why it last went back to draft.")


class StatementOfPaperOut(StatementOfOut, StatementPaperOut):
    """With its lines."""


class StatementMonthIn(serializers.Serializer[Any]):
    period = serializers.RegexField(r"^20\d\d-(0[1-9]|1[0-2])$", help_text="YYYY-MM.")


class StatementsBuiltOut(serializers.Serializer[Any]):
    built = serializers.IntegerField()
    more = serializers.BooleanField(help_text="Whether any are left: call again.")


class StatementReasonIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=statements.REASON_MAX)


@extend_schema(tags=TAGS)
class Statements(ScopedView, generics.ListAPIView[Statement]):
    access = VIEW
    queryset = Statement.objects.none()
    serializer_class = StatementOfOut
    pagination_class = CreatedCursor
    filterset_class = StatementFilter

    def get_queryset(self) -> QuerySet[Statement]:
        return reads.statements(self.actor)


@extend_schema(tags=TAGS, request=StatementMonthIn, responses=StatementsBuiltOut)
class StatementsBuild(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """Build the month's drafts anew, for at most some seconds; call again while there are more."""
        given = StatementMonthIn(data=request.data)
        given.is_valid(raise_exception=True)
        month = Month(given.validated_data["period"])
        built, more = statements_closing.build_now(self.actor, month=month)
        return Response({"built": built, "more": more})


@extend_schema(tags=TAGS, responses=StatementOfPaperOut)
class StatementOfDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, statement_id: UUID) -> Response:
        return Response(StatementOfPaperOut(reads.statement(self.actor, statement_id)).data)


class Act(ScopedView):
    """One step of a statement."""

    access = MANAGE
    step: ClassVar[Callable[..., Statement]]

    def stepped(self, statement_id: UUID, **given: str) -> Response:
        type(self).step(self.actor, statement_id=statement_id, **given)
        return Response(StatementOfPaperOut(reads.statement(self.actor, statement_id)).data)


@extend_schema(tags=TAGS, request=None, responses=StatementOfPaperOut)
class StatementReview(Act):
    step = staticmethod(statements.review)

    def post(self, request: Request, statement_id: UUID) -> Response:
        """Approve the figures. 409 before the month is complete; once more changes nothing."""
        return self.stepped(statement_id)


@extend_schema(tags=TAGS, request=None, responses=StatementOfPaperOut)
class StatementIssue(Act):
    step = staticmethod(statements.issue)

    def post(self, request: Request, statement_id: UUID) -> Response:
        """Number and freeze it, and tell the organisation. 409 for a draft; once more changes nothing."""
        return self.stepped(statement_id)


@extend_schema(tags=TAGS, request=StatementReasonIn, responses=StatementOfPaperOut)
class StatementReopen(Act):
    step = staticmethod(statements.reopen)

    def post(self, request: Request, statement_id: UUID) -> Response:
        """From reviewed back to draft, with a reason."""
        given = StatementReasonIn(data=request.data)
        given.is_valid(raise_exception=True)
        return self.stepped(statement_id, reason=given.validated_data["reason"])
