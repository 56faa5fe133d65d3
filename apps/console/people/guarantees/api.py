"""/api/v1/console/organisations/<id>/guarantees/: what an organisation may count on."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.people.guarantees.selectors import guarantee_lines
from apps.console.people.organisations import selectors as reads
from apps.tenants.services.guarantees import MOST_MILLI, Promise, set_guarantees

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class ZoneShortfallOut(serializers.Serializer[Any]):
    """A zone's part of the cards. `missing_milli`: if all organisations asked for all of theirs in this zone."""

    zone = serializers.UUIDField(source="id", read_only=True)
    name = serializers.CharField(read_only=True)
    existing_milli = serializers.IntegerField(source="existing", read_only=True)
    missing_milli = serializers.IntegerField(source="missing", read_only=True)


class GuaranteeOut(serializers.Serializer[Any]):
    """In thousandths of a card; `gpu_model` empty: of any model.

    `existing_milli`: what there is; `everybody_milli`: what all organisations together are guaranteed of it.
    """

    gpu_model = serializers.CharField(source="promise.gpu_model", read_only=True)
    simulated = serializers.BooleanField(source="promise.simulated", read_only=True)
    gpu_milli = serializers.IntegerField(source="milli", read_only=True)
    existing_milli = serializers.IntegerField(source="existing", read_only=True)
    everybody_milli = serializers.IntegerField(source="everybody", read_only=True)
    overbooked = serializers.BooleanField(read_only=True)
    zones = ZoneShortfallOut(many=True, read_only=True, help_text="Empty where all cards stand in one zone.")


class GuaranteeIn(serializers.Serializer[Any]):
    gpu_model = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    simulated = serializers.BooleanField(required=False, default=False)
    gpu_milli = serializers.IntegerField(min_value=0, max_value=MOST_MILLI)


@extend_schema(tags=["console: organisations"])
class Guarantees(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=GuaranteeOut(many=True))
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """Any model and each by name, whether something of it is guaranteed or not."""
        reads.get(self.actor, organisation_id)
        return Response(GuaranteeOut(guarantee_lines(self.actor, organisation_id), many=True).data)

    @extend_schema(request=GuaranteeIn(many=True), responses=GuaranteeOut(many=True))
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set the guarantees that are named, 0 takes one back; the others stay."""
        given = GuaranteeIn(data=request.data, many=True)
        given.is_valid(raise_exception=True)
        milli = {Promise(row["gpu_model"], row["simulated"]): row["gpu_milli"] for row in given.validated_data}
        set_guarantees(self.actor, organisation_id=organisation_id, milli=milli)
        return self.get(request, organisation_id)
