"""/api/v1/recharges/: what came into the wallet."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from apps.billing.choices import PaymentMethod
from apps.billing.models import Transfer
from apps.billing.recharges.selectors import recharges
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission


class RechargeSerializer(serializers.ModelSerializer[Transfer]):
    reference = serializers.CharField(source="ref")
    amount_fen = serializers.IntegerField(source="into_wallet_fen", help_text="Below zero where it was taken back.")

    paid_on = serializers.DateField(read_only=True, allow_null=True, help_text="The day of the payment at the bank.")
    payer = serializers.CharField(read_only=True, allow_null=True)
    method = serializers.ChoiceField(choices=PaymentMethod.choices, read_only=True, allow_null=True)

    class Meta:
        model = Transfer
        fields = ("id", "at", "amount_fen", "reference", "note", "paid_on", "payer", "method", "actor_label")


# Each order has a second key: rows of the same instant must not change places between two pages.
class NewestTransfer(CreatedCursor):
    ordering: Any = ("-at", "-id")


@extend_schema(tags=["money"])
class RechargeList(ScopedView, generics.ListAPIView[Transfer]):
    """Top-ups of the organisation, newest first."""

    access = in_organisation(Permission.BILLING_VIEW)
    serializer_class = RechargeSerializer
    pagination_class: type[CreatedCursor] = NewestTransfer
    queryset = Transfer.objects.none()

    def get_queryset(self) -> QuerySet[Transfer]:
        return recharges(self.actor)
