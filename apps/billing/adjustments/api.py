"""/api/v1/adjustments/: credit and debit notes."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from apps.billing.adjustments.selectors import adjustments
from apps.billing.models import Transfer
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission


class NewestAdjustment(CreatedCursor):
    ordering: Any = ("-at", "-id")


class AdjustmentSerializer(serializers.ModelSerializer[Transfer]):
    number = serializers.CharField(source="ref")
    reason = serializers.CharField(source="note")
    amount_fen = serializers.IntegerField(
        source="into_wallet_fen", help_text="Into the wallet: a credit note. Below zero: a debit note."
    )

    class Meta:
        model = Transfer
        fields = ("id", "at", "amount_fen", "number", "reason")


@extend_schema(tags=["money"])
class AdjustmentList(ScopedView, generics.ListAPIView[Transfer]):
    """Credit and debit notes of the organisation, newest first."""

    access = in_organisation(Permission.BILLING_VIEW)
    serializer_class = AdjustmentSerializer
    pagination_class: type[CreatedCursor] = NewestAdjustment
    queryset = Transfer.objects.none()

    def get_queryset(self) -> QuerySet[Transfer]:
        return adjustments(self.actor)
