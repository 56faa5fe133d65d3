"""/api/v1/console/adjustments/: credit and debit notes."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.adjustments.api import AdjustmentSerializer
from apps.billing.adjustments.selectors import adjustments
from apps.billing.adjustments.services import NUMBER_MAX, REASON_MAX, Note
from apps.billing.choices import NOTES, RechargeKind
from apps.billing.models import RechargeRequest, Transfer
from apps.billing.payments import recharge_review
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.finance.adjustments.listing import AdjustmentFilter
from apps.console.finance.recharges.api import RechargeRequestOut
from apps.console.kit.api import Named, NewestFirst, fields_named

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
ADJUST = on_platform(P.PLATFORM_RECHARGE)


class ConsoleAdjustmentOut(AdjustmentSerializer):
    organisation = Named(read_only=True)
    by = serializers.CharField(source="actor_label", read_only=True)

    class Meta(AdjustmentSerializer.Meta):
        fields = (*AdjustmentSerializer.Meta.fields, "organisation", "by")  # type: ignore[assignment]


class AdjustmentIn(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=[(kind.value, kind.label) for kind in NOTES])
    amount_fen = serializers.IntegerField(min_value=1)
    number = serializers.CharField(max_length=NUMBER_MAX)
    reason = serializers.CharField(max_length=REASON_MAX)


@extend_schema(tags=["console: finance"])
class Adjustments(ScopedView, generics.ListAPIView[Transfer]):
    access = {"get": VIEW, "post": ADJUST}
    queryset = Transfer.objects.none()
    serializer_class = ConsoleAdjustmentOut
    pagination_class = NewestFirst
    filterset_class = AdjustmentFilter

    def get_queryset(self) -> QuerySet[Transfer]:
        return adjustments(self.actor)

    @extend_schema(
        request=AdjustmentIn, responses={201: ConsoleAdjustmentOut, 200: ConsoleAdjustmentOut, 202: RechargeRequestOut}
    )
    def post(self, request: Request) -> Response:
        """Adjust a bill: 201 the first time, 200 with the same adjustment when its number comes again.

        202 with a request where it is more than one person may do alone. The same number with another kind or amount is
        a conflict (409).
        """
        given = AdjustmentIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        note = Note(RechargeKind(data["kind"]), data["amount_fen"], data["number"], data["reason"])
        with fields_named(amount="amount_fen"):
            made = recharge_review.adjust(self.actor, organisation_id=data["organisation_id"], note=note)
        if isinstance(made, RechargeRequest):
            return Response(RechargeRequestOut(made).data, status=status.HTTP_202_ACCEPTED)
        code = status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK
        return Response(ConsoleAdjustmentOut(adjustments(self.actor).get(pk=made.pk)).data, status=code)
