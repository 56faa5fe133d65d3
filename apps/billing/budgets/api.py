"""/api/v1/budgets/: what may be spent in a month, and how much of it is."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.budgets import selectors as reads
from apps.billing.budgets import services
from apps.billing.budgets.services import MAX_PERCENT, THRESHOLDS, BudgetSpec
from apps.billing.choices import BudgetScope
from apps.billing.models import Budget
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.permissions import Permission

TAGS = ["money"]
VIEW, MANAGE = in_organisation(Permission.BILLING_VIEW), in_organisation(Permission.BUDGETS_MANAGE)


class BudgetIn(serializers.Serializer[Any]):
    """`department`, `user`, `resource` or `tag` as `scope` says; the others are passed over. Thresholds: percents."""

    name = serializers.CharField(max_length=80)
    scope = serializers.ChoiceField(choices=BudgetScope.choices)
    limit_fen = serializers.IntegerField(min_value=1, max_value=2**53)
    department = serializers.UUIDField(required=False, allow_null=True)
    user = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**53)
    resource = serializers.CharField(required=False, allow_blank=True, max_length=80)
    tag = serializers.CharField(required=False, allow_blank=True, max_length=80)
    thresholds = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_PERCENT),
        default=list(THRESHOLDS),
        min_length=1,
        max_length=10,
    )

    def spec(self) -> BudgetSpec:
        """The serializer must be valid."""
        data = self.validated_data
        return BudgetSpec(
            name=data["name"],
            scope=BudgetScope(data["scope"]),
            limit_fen=data["limit_fen"],
            department_id=data.get("department"),
            user_id=data.get("user"),
            resource=data.get("resource") or "",
            tag=data.get("tag") or "",
            thresholds=tuple(data["thresholds"]),
        )


class BudgetOut(serializers.Serializer[Any]):
    """One budget in the present month; `passed`: thresholds that have been told in it."""

    id = serializers.UUIDField(source="budget.pk")
    name = serializers.CharField(source="budget.name")
    scope = serializers.ChoiceField(source="budget.scope", choices=BudgetScope.choices)
    department = serializers.UUIDField(source="budget.department_id", allow_null=True)
    user = serializers.IntegerField(source="budget.user_id", allow_null=True)
    resource = serializers.CharField(source="budget.resource")
    tag = serializers.CharField(source="budget.tag")
    limit_fen = serializers.IntegerField(source="budget.limit_fen")
    thresholds = serializers.ListField(source="budget.thresholds", child=serializers.IntegerField())
    period = serializers.CharField()
    spent_fen = serializers.IntegerField()
    forecast_fen = serializers.IntegerField()
    percent = serializers.IntegerField()
    passed = serializers.ListField(child=serializers.IntegerField())


def _out(budget: Budget) -> dict[str, Any]:
    found = reads.progress(budget.organisation_id, [budget], now=db_now())[0]
    return dict(BudgetOut(found).data)


def _spec(request: Request) -> BudgetSpec:
    given = BudgetIn(data=request.data)
    given.is_valid(raise_exception=True)
    return given.spec()


@extend_schema(tags=TAGS)
class Budgets(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=BudgetOut(many=True))
    def get(self, request: Request) -> Response:
        """All budgets of the organisation, by name, each with what is spent of it; there are at most 200."""
        rows = reads.progress(self.actor.organisation(), reads.budgets(self.actor), now=db_now())
        return Response(BudgetOut(rows, many=True).data)

    @extend_schema(request=BudgetIn, responses={201: BudgetOut})
    def post(self, request: Request) -> Response:
        """Watch a new budget."""
        made = services.create_budget(self.actor, _spec(request))
        return Response(_out(made), status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS)
class BudgetDetail(ScopedView):
    access = {"get": VIEW, "put": MANAGE, "delete": MANAGE}

    @extend_schema(responses=BudgetOut)
    def get(self, request: Request, budget_id: UUID) -> Response:
        return Response(_out(reads.get(self.actor, budget_id)))

    @extend_schema(request=BudgetIn, responses=BudgetOut)
    def put(self, request: Request, budget_id: UUID) -> Response:
        """Thresholds that are no longer passed under the new terms are told again when they are."""
        reads.get(self.actor, budget_id)
        return Response(_out(services.update_budget(self.actor, budget_id, _spec(request))))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, budget_id: UUID) -> Response:
        reads.get(self.actor, budget_id)
        services.delete_budget(self.actor, budget_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
