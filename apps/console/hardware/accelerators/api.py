"""/api/v1/console/accelerators/: cards, what lies on each, what could, the modes it can be in, and switching it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import ISOLATION_OF_MODE, Isolation
from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.hardware.accelerators import selectors as reads
from apps.console.hardware.accelerators.fields import AcceleratorOut, CardFaultOut
from apps.console.hardware.accelerators.listing import CardFilter
from apps.console.kit.api import Named, OldestFirst, checked
from apps.workloads.hardware import modes

CARDS = "console: accelerators"
VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)


class CardOut(AcceleratorOut):
    node = Named(read_only=True)


class OfferOut(serializers.Serializer[Any]):
    """A MIG profile. `free_starts`: the memory slices at which one more of it could lie now."""

    name = serializers.CharField(source="profile.name", read_only=True)
    memory_mib = serializers.IntegerField(source="profile.memory_mib", read_only=True)
    slices = serializers.IntegerField(source="profile.size", read_only=True)
    compute = serializers.IntegerField(source="profile.compute", read_only=True)
    starts = serializers.ListField(source="profile.starts", child=serializers.IntegerField(), read_only=True)
    maximum = serializers.IntegerField(source="profile.maximum", read_only=True)
    free_starts = serializers.ListField(child=serializers.IntegerField(), read_only=True)
    held = serializers.IntegerField(read_only=True)


class LaidOut(serializers.Serializer[Any]):
    start = serializers.IntegerField(read_only=True)
    size = serializers.IntegerField(read_only=True)
    profile = serializers.CharField(read_only=True)


class HolderOut(serializers.Serializer[Any]):
    """Who holds a piece. The workload is left out for who may not see workloads."""

    organisation = serializers.CharField(source="attempt.workload.organisation.name", read_only=True)
    workload_id = serializers.SerializerMethodField()
    start = serializers.IntegerField(source="mig_start", read_only=True, allow_null=True)
    profile = serializers.CharField(source="mig_profile", read_only=True)
    memory_mib = serializers.IntegerField(source="device_memory_mib", read_only=True)
    core_milli = serializers.IntegerField(read_only=True)

    def get_workload_id(self, placement: Any) -> str | None:
        return str(placement.attempt.workload_id) if self.context["sees_work"] else None


class ModeOut(serializers.Serializer[Any]):
    """`why_not` empty: the card can be in this mode."""

    mode = serializers.ChoiceField(choices=AcceleratorMode.choices, read_only=True)
    isolation = serializers.ChoiceField(choices=Isolation.choices, read_only=True)
    why_not = serializers.CharField(read_only=True)


class CardDetailOut(CardOut):
    """`discovered`: whether the card's own driver told its profiles; else they are its model's."""

    discovered = serializers.BooleanField(read_only=True)
    modes = ModeOut(many=True, read_only=True)
    profiles = OfferOut(many=True, read_only=True)
    layouts = serializers.ListField(child=LaidOut(many=True), read_only=True)
    holders = HolderOut(many=True, read_only=True)
    faults = CardFaultOut(many=True, read_only=True)


@extend_schema(tags=[CARDS], responses=CardDetailOut)
class AcceleratorDetail(ScopedView):
    access = on_platform(P.PLATFORM_NODES_VIEW)

    def get(self, request: Request, card_id: UUID) -> Response:
        """A card: what it offers, how it could be cut, who holds which slot."""
        view = reads.view_of(clusters.card(self.actor, card_id))
        shown = {
            **CardOut(view.card).data,
            "discovered": view.discovered,
            "modes": [_mode(view.card, mode) for mode in AcceleratorMode],
            "profiles": OfferOut(view.offers, many=True).data,
            "layouts": [LaidOut(layout, many=True).data for layout in view.layouts],
            "holders": HolderOut(
                view.placements, many=True, context={"sees_work": self.actor.may(P.PLATFORM_WORKLOADS_VIEW)}
            ).data,
            "faults": [CardFaultOut(fault).data for fault in reads.faults_shown(self.actor, card_id=card_id)],
        }
        return Response(shown)


def _mode(card: Accelerator, mode: AcceleratorMode) -> dict[str, str]:
    return {
        "mode": mode.value,
        "isolation": ISOLATION_OF_MODE[mode].value,
        "why_not": modes.mode_obstacle(card, mode),
    }


class ModeIn(serializers.Serializer[Any]):
    """`seen`: the mode that it was in when you looked; 409 where it has been switched since."""

    mode = serializers.ChoiceField(choices=AcceleratorMode.choices)
    seen = serializers.ChoiceField(choices=AcceleratorMode.choices, required=False)


@extend_schema(tags=[CARDS])
class Accelerators(ScopedView, generics.ListAPIView[Accelerator]):
    access = VIEW
    queryset = Accelerator.objects.none()
    serializer_class = CardOut
    pagination_class = OldestFirst
    filterset_class = CardFilter

    def get_queryset(self) -> QuerySet[Accelerator]:
        return clusters.cards(self.actor)


@extend_schema(tags=[CARDS], request=ModeIn, responses=CardOut)
class AcceleratorSwitch(ScopedView):
    access = MANAGE

    def post(self, request: Request, card_id: UUID) -> Response:
        """409 names the work that is in the way."""
        asked = checked(ModeIn(data=request.data))
        seen = AcceleratorMode(asked["seen"]) if "seen" in asked else None
        modes.set_card_mode(self.actor, card_id=card_id, mode=AcceleratorMode(asked["mode"]), seen=seen)
        return Response(CardOut(reads.view_of(clusters.card(self.actor, card_id)).card).data)


@extend_schema(tags=[CARDS], request=None, responses=CardOut)
class AcceleratorReset(ScopedView):
    access = MANAGE

    def post(self, request: Request, card_id: UUID) -> Response:
        """Say that somebody has reset the card: its faults so far keep no work away any more. 409 where none does."""
        services.confirm_reset(self.actor, card_id=card_id)
        return Response(CardOut(reads.view_of(clusters.card(self.actor, card_id)).card).data)
