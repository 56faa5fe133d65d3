"""How waiting is told in the API. Of other organisations there are sums, never names or ids."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.billing.choices import Isolation
from apps.workloads.explaining.holders import HolderRow
from apps.workloads.explaining.rack import Rack
from apps.workloads.offers.alternatives import Alternative
from apps.workloads.waiting import WaitReport


class StepSerializer(serializers.Serializer[Any]):
    """How many machines are left after this check; the checks come in the order in which they are applied."""

    name = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]
    count = serializers.IntegerField(read_only=True)


class HolderSerializer(serializers.Serializer[HolderRow]):
    """`name` and `owner` are empty for other organisations, whose `tasks` are counted. Ends null: not known."""

    name = serializers.CharField(read_only=True)
    owner = serializers.CharField(read_only=True)
    tasks = serializers.IntegerField(read_only=True)
    cards = serializers.FloatField(read_only=True)
    end_p50 = serializers.DateTimeField(read_only=True, allow_null=True)
    end_p90 = serializers.DateTimeField(read_only=True, allow_null=True)
    may_yield = serializers.BooleanField(read_only=True)
    why = serializers.CharField(read_only=True)


class PartSerializer(serializers.Serializer[Any]):
    """An eighth of a card or several. `name`: of work of the reader's own organisation."""

    width = serializers.IntegerField(read_only=True)
    taken = serializers.BooleanField(read_only=True)
    own = serializers.BooleanField(read_only=True)
    name = serializers.CharField(read_only=True)


class CardSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField(read_only=True)
    mode = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True)
    useful = serializers.BooleanField(read_only=True)
    healthy = serializers.BooleanField(read_only=True)
    parts = PartSerializer(many=True, read_only=True)


class RackSerializer(serializers.Serializer[Rack]):
    """The machine that comes closest; `wanted` of its cards are needed."""

    node = serializers.CharField(read_only=True)
    wanted = serializers.IntegerField(read_only=True)
    cards = CardSerializer(many=True, read_only=True)


class AlternativeSerializer(serializers.Serializer[Alternative]):
    """A package on which it would start now, at what the organisation pays, and how much more than the present one."""

    package = serializers.IntegerField(source="package.pk", read_only=True)
    name_en = serializers.CharField(source="package.name_en", read_only=True)
    name_zh = serializers.CharField(source="package.name_zh", read_only=True)
    isolation = serializers.ChoiceField(source="package.isolation", choices=Isolation.choices, read_only=True)
    isolates_less = serializers.BooleanField(source="weaker", read_only=True)
    rate_fen_per_hour = serializers.DecimalField(30, 10, read_only=True)
    more_fen_per_hour = serializers.DecimalField(30, 10, read_only=True)
    room = serializers.IntegerField(read_only=True)
    effects = serializers.ListField(child=serializers.CharField(), read_only=True)


class ExplanationSerializer(serializers.Serializer[WaitReport]):
    """`cause` is the scheduler's code, `title` and `text` say it. `place` of `waiting` that want the same kind of card.

    `short`: what the `node` that comes closest lacks. `reserved`: room is kept for it.
    """

    cause = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    text = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True, allow_null=True)
    funnel = StepSerializer(many=True, read_only=True)
    position = serializers.IntegerField(read_only=True, allow_null=True)
    place = serializers.IntegerField(read_only=True, allow_null=True)
    waiting = serializers.IntegerField(read_only=True, allow_null=True)
    node = serializers.CharField(read_only=True)
    short = serializers.CharField(read_only=True)
    reserved = serializers.BooleanField(read_only=True)
    start_p50 = serializers.DateTimeField(read_only=True, allow_null=True)
    start_p90 = serializers.DateTimeField(read_only=True, allow_null=True)
    priority = serializers.CharField(read_only=True)
    holders = HolderSerializer(many=True, read_only=True)
    rack = RackSerializer(read_only=True, allow_null=True)
    alternatives = serializers.SerializerMethodField()

    @extend_schema_field(AlternativeSerializer(many=True))
    def get_alternatives(self, report: WaitReport) -> Any:
        return AlternativeSerializer(self.context["alternatives"], many=True).data
