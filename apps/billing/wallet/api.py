"""/api/v1/wallet/: the organisation's money now."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.api_fields import exact
from apps.billing.choices import ArrearsStatus
from apps.billing.funds.wallets import wallet
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission

OWN = in_organisation(Permission.BILLING_VIEW_OWN)


class WalletSerializer(serializers.Serializer[Any]):
    """Fen; `runs_until` null: nothing that costs is running."""

    balance_fen = serializers.IntegerField()
    held_fen = serializers.IntegerField()
    credit_limit_fen = serializers.IntegerField()
    available_fen = serializers.IntegerField()
    vouchers_fen = serializers.IntegerField(help_text="Left of vouchers; no part of the balance.")
    burn_fen_per_hour = exact()
    runs_until = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(choices=ArrearsStatus.choices)
    grace_until = serializers.DateTimeField(allow_null=True)
    release_at = serializers.DateTimeField(allow_null=True, help_text="When stored data may go, if nothing is paid.")


class WalletView(ScopedView):
    access = OWN

    @extend_schema(responses=WalletSerializer, tags=["money"])
    def get(self, request: Request) -> Response:
        """The organisation's money now."""
        return Response(WalletSerializer(wallet(self.actor)).data)
