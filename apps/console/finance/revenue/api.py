"""/api/v1/console/revenue/: recognised, deferred and received, by month, package and organisation."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.months import Month
from apps.billing.statements import revenue as reads
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.permissions import Permission as P

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
TAGS = ["console: finance"]
# Months in one answer, and organisations.
MONTHS, ORGANISATIONS = 12, 500
PERIOD = OpenApiParameter("period", str, description="YYYY-MM in the billing zone; by default the running month.")


class RevenueMonthOut(serializers.Serializer[Any]):
    """Fen. recognised = consumption + adjusted + prepaid; consumption = from wallets (cash) + from vouchers."""

    period = serializers.CharField(source="month.period", read_only=True)
    recognised_fen = serializers.IntegerField(read_only=True)
    consumption_fen = serializers.IntegerField(read_only=True)
    cash_fen = serializers.IntegerField(read_only=True)
    voucher_fen = serializers.IntegerField(read_only=True)
    adjusted_fen = serializers.IntegerField(read_only=True, help_text="Credit and debit notes; below zero: taken off.")
    prepaid_fen = serializers.IntegerField(read_only=True)
    sold_ahead_fen = serializers.IntegerField(read_only=True)
    deferred_fen = serializers.IntegerField(read_only=True, help_text="At the month's end.")
    received_fen = serializers.IntegerField(read_only=True, help_text="Recharges less refunds.")


class PackageRevenueOut(serializers.Serializer[Any]):
    package_id = serializers.IntegerField(read_only=True)
    name_en = serializers.CharField(read_only=True)
    name_zh = serializers.CharField(read_only=True)
    consumption_fen = serializers.IntegerField(read_only=True)
    prepaid_fen = serializers.IntegerField(read_only=True)
    recognised_fen = serializers.IntegerField(source="fen", read_only=True)


class OrganisationRevenueOut(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    consumption_fen = serializers.IntegerField(read_only=True)
    adjusted_fen = serializers.IntegerField(read_only=True)
    prepaid_fen = serializers.IntegerField(read_only=True)
    recognised_fen = serializers.IntegerField(source="fen", read_only=True)


class OfMonth(ScopedView):
    access = VIEW

    def month(self) -> Month:
        running = Month.at(db_now())
        text = self.request.query_params.get("period")
        if text is None:
            return running
        try:
            return min(Month.parse(text), running)
        except ValueError as error:
            raise Invalid.field("period", "YYYY-MM") from error


class Revenue(OfMonth):
    @extend_schema(tags=TAGS, parameters=[PERIOD], responses=RevenueMonthOut(many=True))
    def get(self, request: Request) -> Response:
        """Twelve months up to this one, oldest first."""
        books = reads.monthly_books(self.actor, last=self.month(), count=MONTHS)
        return Response(RevenueMonthOut(books, many=True).data)


class RevenueByPackage(OfMonth):
    @extend_schema(tags=TAGS, parameters=[PERIOD], responses=PackageRevenueOut(many=True))
    def get(self, request: Request) -> Response:
        """Of one month, the greatest first."""
        found = reads.by_package(self.actor, month=self.month())
        return Response(PackageRevenueOut(found, many=True).data)


class RevenueByOrganisation(OfMonth):
    @extend_schema(tags=TAGS, parameters=[PERIOD], responses=OrganisationRevenueOut(many=True))
    def get(self, request: Request) -> Response:
        """Of one month, the greatest first; at most 500."""
        found = reads.by_organisation(self.actor, month=self.month())[:ORGANISATIONS]
        return Response(OrganisationRevenueOut(found, many=True).data)
