"""/api/v1/console/prices/: the price list."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.effects import unit_effect
from apps.billing.changes.price_proposals import ListedPrice
from apps.billing.changes.services import end_listed_price, submit
from apps.billing.choices import GpuMode, UnitItem
from apps.billing.models import UnitPrice
from apps.billing.prices.pricelist import Unit
from apps.billing.prices.units import selectors as listing
from apps.common.api import ScopedView
from apps.console.finance.effects import EffectOut, answer_price, effect_data
from apps.console.finance.price_versions import MANAGE, VIEW, PriceIn, PriceOut
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
        rows = [
            price for row in listing.listed_units(self.actor) for price in (row.now, row.planned) if price is not None
        ]
        return Response(UnitPriceOut(rows, many=True).data)

    @extend_schema(request=UnitPriceIn, responses={200: UnitPriceOut, 201: UnitPriceOut, 202: ChangeRequestRef})
    def post(self, request: Request) -> Response:
        """Set a unit's price; packages that follow the list have theirs from the same instant. 409 where one cannot.

        201 with the new version; 200 with the one in force where it has this rate already; 202 with a request where one
        person may not lower it so far alone.
        """
        wanted = _proposal(request)
        with fields_named(rate="rate_fen_per_hour"):
            return answer_price(submit(self.actor, wanted), UnitPriceOut)


@extend_schema(tags=["console: packages"], request=UnitPriceIn, responses=EffectOut)
class UnitPricePreview(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """What the price would do to every package that follows the list; nothing is changed."""
        wanted = _proposal(request)
        with fields_named(rate="rate_fen_per_hour"):
            return Response(effect_data(self.actor, wanted, lambda: unit_effect(self.actor, wanted)))


def _proposal(request: Request) -> ListedPrice:
    given = UnitPriceIn(data=request.data)
    given.is_valid(raise_exception=True)
    data = given.validated_data
    unit = Unit(UnitItem(data["item"]), data["gpu_model"], data["gpu_mode"], data["mig_profile"])
    return ListedPrice(unit, data["rate_fen_per_hour"], data["effective_from"])


@extend_schema(tags=["console: packages"])
class UnitPriceEnd(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses=UnitPriceOut)
    def post(self, request: Request, price_id: int) -> Response:
        """Take the unit off the list from now on. 409 where a package that follows the list needs it."""
        end_listed_price(self.actor, price_id=price_id)
        return Response(UnitPriceOut(UnitPrice.objects.get(pk=price_id)).data)
