"""/api/v1/console/storage-price/: what a stored GiB costs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.storage.selectors import storage_price_history
from apps.billing.storage.services import set_storage_price
from apps.common.api import ScopedView
from apps.console.finance.price_versions import MANAGE, VIEW, PriceIn, PriceOut, status_of
from apps.console.kit.api import fields_named

TAGS = ["console: packages"]


@extend_schema(tags=TAGS)
class StoragePrices(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=PriceOut(many=True))
    def get(self, request: Request) -> Response:
        """Fen per GiB and hour, every version, newest first. Empty: storage is free."""
        rows: Any = storage_price_history(self.actor)  # a list of what the serializer has one of
        return Response(PriceOut(rows, many=True).data)

    @extend_schema(request=PriceIn, responses={200: PriceOut, 201: PriceOut})
    def post(self, request: Request) -> Response:
        """201 with a new version, for all that is kept from its beginning on. 200 where it has this rate already."""
        given = PriceIn(data=request.data)
        given.is_valid(raise_exception=True)
        with fields_named(rate="rate_fen_per_hour"):
            priced = set_storage_price(self.actor, **given.validated_data)
        return Response(PriceOut(priced.version).data, status=status_of(priced))
