"""/api/v1/discount/: the organisation's discount."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.models import Discount
from apps.billing.prices.discounts.selectors import own_discount
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission

TAGS = ["money"]
VIEW_OWN = in_organisation(Permission.BILLING_VIEW_OWN)


class DiscountOut(serializers.Serializer[Discount]):
    """`off` is a share of 1 that is taken off every price of what starts in [effective_from, effective_to)."""

    id = serializers.IntegerField(read_only=True)
    number = serializers.IntegerField(read_only=True)
    off = serializers.DecimalField(max_digits=5, decimal_places=4, read_only=True)
    effective_from = serializers.DateTimeField(read_only=True)
    effective_to = serializers.DateTimeField(allow_null=True, read_only=True)


@extend_schema(tags=TAGS, responses=DiscountOut)
class OwnDiscount(ScopedView):
    access = VIEW_OWN

    def get(self, request: Request) -> Response:
        """The discount in force; 404 while there is none."""
        found = own_discount(self.actor)
        if found is None:
            raise NotFound
        return Response(DiscountOut(found).data)
