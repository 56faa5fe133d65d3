"""/api/v1/console/arrears/ and /organisations/<id>/arrears/: who is short of money, and under which terms."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing.arrears.settings import MAX_GRACE_MINUTES, MAX_RETENTION_DAYS
from apps.billing.choices import ArrearsStatus
from apps.billing.policy import RELEASE_NOTICES
from apps.billing.services import set_arrears_terms
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.finance.arrears import selectors as reads
from apps.console.finance.arrears.services import release_data
from apps.console.people.organisations import selectors as organisations

VIEW, RECHARGE = on_platform(P.PLATFORM_FINANCE_VIEW), on_platform(P.PLATFORM_RECHARGE)
MANAGE = on_platform(P.PLATFORM_STORAGE_MANAGE)
TAGS = ["console: money"]
MOST = 500


class ArrearsOut(serializers.Serializer[Any]):
    """One organisation that is not in order; `ends_at`: when its state ends by itself, null where it does not."""

    organisation = serializers.UUIDField(source="state.organisation_id")
    name = serializers.CharField(source="state.organisation.name")
    status = serializers.ChoiceField(source="state.status", choices=ArrearsStatus.choices)
    since = serializers.DateTimeField(source="state.since")
    ends_at = serializers.DateTimeField(allow_null=True)
    balance_fen = serializers.IntegerField(source="state.balance_fen")
    credit_limit_fen = serializers.IntegerField(source="state.credit_fen")


class TermsOut(serializers.Serializer[Any]):
    grace_minutes = serializers.IntegerField()
    retention_days = serializers.IntegerField()


class StandingOut(serializers.Serializer[Any]):
    """`grace_minutes` and `retention_days` are its own, null where the platform's hold; `terms` those in force."""

    status = serializers.ChoiceField(choices=ArrearsStatus.choices)
    since = serializers.DateTimeField(allow_null=True)
    grace_until = serializers.DateTimeField(allow_null=True)
    release_at = serializers.DateTimeField(allow_null=True)
    grace_minutes = serializers.IntegerField(source="own_grace_minutes", allow_null=True)
    retention_days = serializers.IntegerField(source="own_retention_days", allow_null=True)
    terms = TermsOut()


class TermsIn(serializers.Serializer[Any]):
    grace_minutes = serializers.IntegerField(allow_null=True, min_value=0, max_value=MAX_GRACE_MINUTES)
    retention_days = serializers.IntegerField(
        allow_null=True, min_value=RELEASE_NOTICES[0], max_value=MAX_RETENTION_DAYS
    )


class ReleasedOut(serializers.Serializer[Any]):
    count = serializers.IntegerField()


@extend_schema(tags=TAGS)
class ArrearsList(ScopedView):
    access = VIEW

    @extend_schema(
        parameters=[OpenApiParameter("status", str, enum=ArrearsStatus.values)], responses=ArrearsOut(many=True)
    )
    def get(self, request: Request) -> Response:
        """Those that are not in order, the longest in their state first; at most 500."""
        rows = reads.in_arrears(self.actor)
        status = request.query_params.get("status", "")
        rows = rows.filter(status=status) if status in ArrearsStatus.values else rows
        return Response(ArrearsOut(reads.with_ends(rows[:MOST]), many=True).data)


@extend_schema(tags=TAGS)
class OrganisationArrears(ScopedView):
    access = {"get": VIEW, "put": RECHARGE}

    @extend_schema(responses=StandingOut)
    def get(self, request: Request, organisation_id: UUID) -> Response:
        organisations.get(self.actor, organisation_id)
        return Response(StandingOut(funds.standing(self.actor, organisation_id)).data)

    @extend_schema(request=TermsIn, responses=StandingOut)
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Its own terms; null: as everybody's. An announced release is never brought forward."""
        given = TermsIn(data=request.data)
        given.is_valid(raise_exception=True)
        set_arrears_terms(self.actor, organisation_id=organisation_id, **given.validated_data)
        return self.get(request, organisation_id)


@extend_schema(tags=TAGS, request=None, responses=ReleasedOut)
class ReleaseData(ScopedView):
    access = MANAGE

    def post(self, request: Request, organisation_id: UUID) -> Response:
        """Move its stored data into the recycle bin. 409 unless its time for topping up has passed."""
        organisations.get(self.actor, organisation_id)
        count = release_data(self.actor, organisation_id=organisation_id)
        return Response(ReleasedOut({"count": count}).data)
