"""/api/v1/consumption/costs/: what the organisation's money went to."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.api import DAYS, Consumption, exact
from apps.billing.selectors.costs import By, costs, dimensions
from apps.common.errors import Invalid
from apps.common.permissions import Permission


class CostOut(serializers.Serializer[Any]):
    """One line; `belongs_to`: where a department lies, a member's user name, a package's GPU model.

    By tag, `key` is the tag as tags are compared, and empty for what has none.
    """

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field is called so
    belongs_to = serializers.CharField(source="sub")
    amount_fen = serializers.IntegerField()
    exact_fen = exact()
    seconds = serializers.DecimalField(max_digits=20, decimal_places=6)
    runs = serializers.IntegerField()


BY = OpenApiParameter("by", str, enum=By.values, description="By default the organisation's departments.")


class CostList(Consumption):
    @extend_schema(
        responses=CostOut(many=True), parameters=[BY, *(each for each in DAYS if each.name != "q")], tags=["money"]
    )
    def get(self, request: Request) -> Response:
        """The dearest first; the lines add up to the charges of the days. Members see their own runs only.

        By tag a run counts under each tag that it had when its metering began, so that the lines may add up to more.
        """
        allowed = dimensions(self.actor)
        by = request.GET.get("by") or allowed[0].value
        if by not in By.values:
            raise Invalid.field("by", f"{', '.join(By.values)}")
        if By(by) not in allowed:
            self.actor.require(Permission.BILLING_VIEW)
        return Response(CostOut(costs(self.actor, filters=self.asked().filters, by=By(by)), many=True).data)
