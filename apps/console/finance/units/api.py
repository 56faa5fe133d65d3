"""/api/v1/console/prices/: the price list."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import services
from apps.billing.choices import GpuMode, UnitItem
from apps.billing.models import UnitPrice
from apps.billing.prices.pricelist import Unit
from apps.billing.prices.units import selectors as listing
from apps.common.api import ScopedView
from apps.console.finance.price_versions import MANAGE, VIEW, PriceIn, PriceOut, status_of
from apps.console.kit.api import fields_named


class UnitFields(serializers.Serializer[Any]):
    """What a price is for. GPU fields only for `gpu` and `gpu_memory`; an empty model is any without its own price."""

    item = serializers.ChoiceField(choices=UnitItem.choices)
    gpu_model = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    gpu_mode = serializers.ChoiceField(choices=GpuMode.choices, required=False, allow_blank=True, default="")
    mig_profile = serializers.CharField(max_length=24, required=False, allow_blank=True, default="")


class UnitPriceOut(UnitFields, PriceOut):
    """A version of a unit's price: fen per hour of one core, GiB, card, instance, or all the compute of a card."""


class UnitPriceIn(UnitFields, PriceIn):
    """The next price of a unit, from now on unless a later instant is given."""


@extend_schema(tags=["console: packages"])
class UnitPrices(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=UnitPriceOut(many=True))
    def get(self, request: Request) -> Response:
        """Every price in force or planned, in the order of the list."""
        rows = [price for row in listing.listed(self.actor) for price in (row.now, row.planned) if price is not None]
        return Response(UnitPriceOut(rows, many=True).data)

    @extend_schema(request=UnitPriceIn, responses={200: UnitPriceOut, 201: UnitPriceOut})
    def post(self, request: Request) -> Response:
        """Set a unit's price; packages that follow the list have theirs from the same instant. 409 where one cannot.

        201 with the new version; 200 with the one in force where it has this rate already.
        """
        given = UnitPriceIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        unit = Unit(UnitItem(data["item"]), data["gpu_model"], data["gpu_mode"], data["mig_profile"])
        with fields_named(rate="rate_fen_per_hour"):
            priced = services.set_unit_price(
                self.actor,
                unit=unit,
                rate_fen_per_hour=data["rate_fen_per_hour"],
                effective_from=data["effective_from"],
            )
        return Response(UnitPriceOut(priced.version).data, status=status_of(priced))


@extend_schema(tags=["console: packages"])
class UnitPriceEnd(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses=UnitPriceOut)
    def post(self, request: Request, price_id: int) -> Response:
        """Take the unit off the list from now on. 409 where a package that follows the list needs it."""
        services.end_unit_price(self.actor, price_id=price_id)
        return Response(UnitPriceOut(UnitPrice.objects.get(pk=price_id)).data)
