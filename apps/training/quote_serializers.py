"""What a quote for a run is asked with, and what it says. Money in fen; rates as decimal strings."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.billing.caps.selectors import affordable_time
from apps.training.serializers import DataMountSerializer, exact
from apps.workloads.dataset_copies import CopyOutlook
from apps.workloads.launching.serializers import TermsSerializer
from apps.workloads.offers.serializers import ChoiceSerializer, LeastMembersField, MembersField, OneMoreSerializer
from apps.workloads.queueing.serializers import PreemptionContractSerializer


class QuoteRequestSerializer(TermsSerializer):
    """`priority` and `preemptible` change only the contract that is quoted; as for a run, none is one's highest.

    `image`: it may run on machines of one architecture only.
    """

    priority = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=5)
    members = MembersField()
    least_members = LeastMembersField()
    image = serializers.UUIDField(source="image_id", required=False, allow_null=True)
    mounts = DataMountSerializer(
        many=True, required=False, help_text="Datasets among them may have to be copied first."
    )


class CopiesSerializer(serializers.Serializer[CopyOutlook]):
    """The datasets that the machine copies before the start, free of charge."""

    bytes = serializers.IntegerField(source="size", help_text="At most; less where the machine has some of it.")
    seconds = serializers.FloatField(allow_null=True, help_text="About how long it takes; null: not known yet.")


class QuoteSerializer(serializers.Serializer[Any]):
    """What a start would cost and when it would begin. `short_quota`: what of the quota is missing, in words.

    Rate and hold are of all `members`; with several packages that would do (`choices`), of the dearest.
    `one_more`: the same with one member more, where there are several; null where there may be no more.
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

    one_more = OneMoreSerializer(source="with_one_more", allow_null=True)
    cap_lasts_s = serializers.SerializerMethodField()
    cause = serializers.CharField(source="report.cause", default="")
    title = serializers.CharField(source="report.title", default="")
    text = serializers.CharField(source="report.text", default="")
    alternatives = serializers.SerializerMethodField()
    contract = serializers.SerializerMethodField()
    choices = ChoiceSerializer(many=True)
    copies = serializers.SerializerMethodField()

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
        return affordable_time(fen, rate).total_seconds() if fen and rate else None

    @extend_schema_field(CopiesSerializer(allow_null=True))
    def get_copies(self, offer: Any) -> Any:
        found = self.context.get("copies")
        return None if found is None else CopiesSerializer(found).data

    def get_short_quota(self, offer: Any) -> str:
        return str(offer.quota.message) if offer.quota else ""
