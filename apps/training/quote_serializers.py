"""What a quote for a run is asked with, and what it says. Money in fen; rates as decimal strings."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.billing.caps.selectors import lasts
from apps.training.serializers import exact
from apps.workloads.offers.serializers import AlsoField, ChoiceSerializer
from apps.workloads.queueing.serializers import PreemptionContractSerializer


class QuoteRequestSerializer(serializers.Serializer[Any]):
    """`priority` and `preemptible` change only the contract that is quoted; as for a run, none is one's highest."""

    package = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    priority = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=5)
    preemptible = serializers.BooleanField(default=True)
    cap_fen = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**53)
    also = AlsoField()
    cluster = serializers.UUIDField(required=False, allow_null=True, help_text="The only logical cluster to run in.")


class QuoteSerializer(serializers.Serializer[Any]):
    """What a start would cost and when it would begin. `short_quota`: what of the quota is missing, in words.

    With several packages that would do (`choices`), the rate and the hold are of the dearest.
    `cause`, `title` and `text` say why it would wait; empty where it would not. `alternatives` would start now.
    """

    rate_fen_per_hour = exact(source="quote.rate_fen_per_hour")
    list_rate_fen_per_hour = exact(source="quote.list_rate_fen_per_hour")
    discount_off = serializers.DecimalField(source="quote.discount_off", max_digits=5, decimal_places=4)
    price_version = serializers.IntegerField(source="quote.price_number")
    available_fen = serializers.IntegerField(source="quote.available_fen")
    hold_fen = serializers.IntegerField(source="quote.hold_fen")
    covered_fen = serializers.IntegerField(
        source="quote.covered_fen", help_text="Of hold_fen, what vouchers stand for; the balance has to cover the rest."
    )
    shortfall_fen = serializers.IntegerField(source="quote.shortfall_fen")
    runs_until = serializers.DateTimeField(source="quote.runs_until", allow_null=True)
    can_start = serializers.BooleanField()
    short_quota = serializers.SerializerMethodField()
    starts_now = serializers.BooleanField(source="forecast.starts_now")
    start_p50 = serializers.DateTimeField(source="forecast.start_p50", allow_null=True)
    start_p90 = serializers.DateTimeField(source="forecast.start_p90", allow_null=True)

    cap_lasts_s = serializers.SerializerMethodField()
    cause = serializers.CharField(source="report.cause", default="")
    title = serializers.CharField(source="report.title", default="")
    text = serializers.CharField(source="report.text", default="")
    alternatives = serializers.SerializerMethodField()
    contract = serializers.SerializerMethodField()
    choices = ChoiceSerializer(many=True)

    @extend_schema_field(PreemptionContractSerializer)
    def get_contract(self, offer: Any) -> Any:
        return PreemptionContractSerializer(self.context["contract"]).data

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_alternatives(self, offer: Any) -> list[int]:
        """Ids of packages, the most alike first."""
        return [choice.package.pk for choice in self.context.get("alternatives", ())]

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_cap_lasts_s(self, offer: Any) -> float | None:
        """For how many seconds of running the spending cap that was asked about lasts; null without one, or free."""
        fen, rate = self.context.get("cap_fen"), offer.quote.rate_fen_per_hour
        return lasts(fen, rate).total_seconds() if fen and rate else None

    def get_short_quota(self, offer: Any) -> str:
        return str(offer.quota.message) if offer.quota else ""
