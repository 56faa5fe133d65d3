"""/api/v1/statements/: the organisation's issued statements with their lines."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import StatementSection, StatementState
from apps.billing.models import Statement, StatementLine
from apps.billing.statements import selectors as reads
from apps.billing.statements.filters import BillFilter
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

VIEW = in_organisation(Permission.BILLING_VIEW)


def exact(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=30, decimal_places=10, read_only=True, **options)


class StatementLineOut(serializers.Serializer[StatementLine]):
    """In the section `bill` amounts are exact and add up, rounding included, to the statement's total_fen."""

    position = serializers.IntegerField(read_only=True)
    section = serializers.ChoiceField(choices=StatementSection.choices, read_only=True)
    kind = serializers.CharField(
        read_only=True, help_text="bill: usage, late, reversal, credit, rounding; else the account or the movement."
    )
    usage_period = serializers.CharField(read_only=True)
    label_en = serializers.CharField(read_only=True)
    label_zh = serializers.CharField(read_only=True)
    price_version = serializers.IntegerField(source="price_number", allow_null=True, read_only=True)
    rate_fen_per_hour = exact(allow_null=True)
    discount = exact(help_text="The part of the price that was left off, 0 to 1.")
    count = serializers.IntegerField(read_only=True)
    seconds = serializers.DecimalField(max_digits=26, decimal_places=6, read_only=True)
    amount_fen = exact()


class StatementOut(serializers.Serializer[Statement]):
    """total_fen = cash_fen + voucher_fen; the wallet went from opening_fen to closing_fen."""

    id = serializers.UUIDField(read_only=True)
    number = serializers.CharField(read_only=True, help_text="Empty before it is issued.")
    period = serializers.CharField(read_only=True, help_text="YYYY-MM in the billing zone.")
    state = serializers.ChoiceField(choices=StatementState.choices, read_only=True)
    opening_fen = serializers.IntegerField(read_only=True)
    closing_fen = serializers.IntegerField(read_only=True)
    exact_fen = exact()
    total_fen = serializers.IntegerField(read_only=True)
    cash_fen = serializers.IntegerField(read_only=True)
    voucher_fen = serializers.IntegerField(read_only=True)
    recognised_fen = serializers.IntegerField(read_only=True)
    received_fen = serializers.IntegerField(read_only=True)
    issued_at = serializers.DateTimeField(allow_null=True, read_only=True)
    digest = serializers.CharField(read_only=True, help_text="SHA-256 of the canonical text; empty before issue.")


class StatementPaperOut(StatementOut):
    lines = serializers.SerializerMethodField()

    @extend_schema(responses=StatementLineOut(many=True))
    def get_lines(self, statement: Statement) -> list[dict[str, Any]]:
        rows = StatementLine.objects.filter(statement=statement).order_by("position")
        return [dict(StatementLineOut(row).data) for row in rows]


@extend_schema(tags=["money"])
class StatementList(ScopedView, generics.ListAPIView[Statement]):
    """The organisation's issued statements, newest first."""

    access = VIEW
    queryset = Statement.objects.none()
    serializer_class = StatementOut
    pagination_class = CreatedCursor
    filterset_class = BillFilter

    def get_queryset(self) -> QuerySet[Statement]:
        return reads.statements(self.actor)


@extend_schema(tags=["money"], responses=StatementPaperOut)
class StatementDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, statement_id: UUID) -> Response:
        return Response(StatementPaperOut(reads.statement(self.actor, statement_id)).data)
