"""/api/v1/console/discounts/ and /storage-price/."""

from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.effects import discount_effect
from apps.billing.changes.proposals import NewDiscount
from apps.billing.changes.services import submit
from apps.billing.models import Discount
from apps.billing.prices.discounts.api import DiscountOut
from apps.billing.prices.discounts.selectors import discounts
from apps.billing.prices.discounts.services import NOTE_MAX, end_discount
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.console.finance.discounts.listing import DiscountFilter
from apps.console.finance.effects import EffectOut, effect_data
from apps.console.finance.price_versions import MANAGE, VIEW
from apps.console.kit.api import Named

TAGS = ["console: packages"]


class ConsoleDiscountOut(DiscountOut):
    organisation = Named(read_only=True)
    note = serializers.CharField(read_only=True)
    made_by = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class DiscountIn(serializers.Serializer[Any]):
    """`off` is a share of 1: 0.15 takes 15 per cent off. Without `effective_from` it begins now."""

    organisation_id = serializers.UUIDField()
    off = serializers.DecimalField(max_digits=5, decimal_places=4, min_value=Decimal("0.0001"), max_value=Decimal(1))
    effective_from = serializers.DateTimeField(required=False, allow_null=True, default=None)
    effective_to = serializers.DateTimeField(required=False, allow_null=True, default=None)
    note = serializers.CharField(max_length=NOTE_MAX, required=False, allow_blank=True, default="")


@extend_schema(tags=TAGS)
class Discounts(ScopedView, generics.ListAPIView[Discount]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = Discount.objects.none()
    serializer_class = ConsoleDiscountOut
    pagination_class = CreatedCursor
    filterset_class = DiscountFilter

    def get_queryset(self) -> QuerySet[Discount]:
        return discounts(self.actor)

    @extend_schema(request=DiscountIn, responses={201: ConsoleDiscountOut, 202: ChangeRequestRef})
    def post(self, request: Request) -> Response:
        """The organisation's next version; the one in force ends where it begins. 409 while a later one is planned.

        202 with a request where it is more than one person may take off alone.
        """
        made = submit(self.actor, _proposal(request))
        if made.request is not None:
            return Response(ChangeRequestRef(made.request).data, status=status.HTTP_202_ACCEPTED)
        return Response(ConsoleDiscountOut(made.result).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, request=DiscountIn, responses=EffectOut)
class DiscountPreview(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """What the discount would do; nothing is changed."""
        wanted = _proposal(request)
        return Response(effect_data(self.actor, wanted, lambda: discount_effect(self.actor, wanted)))


def _proposal(request: Request) -> NewDiscount:
    given = DiscountIn(data=request.data)
    given.is_valid(raise_exception=True)
    return NewDiscount(**given.validated_data)


@extend_schema(tags=TAGS, request=None, responses=ConsoleDiscountOut)
class DiscountEnd(ScopedView):
    access = MANAGE

    def post(self, request: Request, discount_id: int) -> Response:
        """End it now; one that has not begun never will. What runs keeps it."""
        return Response(ConsoleDiscountOut(end_discount(self.actor, discount_id=discount_id)).data)
