"""/api/v1/console/storage-price/: what a stored GiB costs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.effects import storage_effect
from apps.billing.changes.price_proposals import StoragePrice
from apps.billing.changes.services import submit
from apps.billing.storage.selectors import storage_price_history
from apps.common.api import ScopedView
from apps.console.finance.effects import EffectOut, answer_price, effect_data, price_in
from apps.console.finance.price_versions import MANAGE, VIEW, PriceIn, PriceOut
from apps.console.kit.api import fields_named
from apps.storage.metering import stored_gib

TAGS = ["console: packages"]


@extend_schema(tags=TAGS)
class StoragePrices(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=PriceOut(many=True))
    def get(self, request: Request) -> Response:
        """Fen per GiB and hour, every version, newest first. Empty: storage is free."""
        rows: Any = storage_price_history(self.actor)  # a list of what the serializer has one of
        return Response(PriceOut(rows, many=True).data)

    @extend_schema(request=PriceIn, responses={200: PriceOut, 201: PriceOut, 202: ChangeRequestRef})
    def post(self, request: Request) -> Response:
        """201 with a new version, for all that is kept from its beginning on. 200 where it has this rate already.

        202 with a request where one person may not lower it so far alone.
        """
        with fields_named(rate="rate_fen_per_hour"):
            return answer_price(submit(self.actor, StoragePrice(**price_in(request))))


@extend_schema(tags=TAGS, request=PriceIn, responses=EffectOut)
class StoragePricePreview(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """What the price would do to everything that is stored; nothing is changed."""
        wanted = StoragePrice(**price_in(request))
        with fields_named(rate="rate_fen_per_hour"):
            effect = effect_data(self.actor, wanted, lambda: storage_effect(self.actor, wanted, stored_gib()))
        return Response(effect)
