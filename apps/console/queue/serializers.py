"""What the queue's endpoints answer. Cards are counted in thousandths, time in seconds."""

from typing import Any

from rest_framework import serializers

from apps.console.kit.api import Named
from apps.console.queue.selectors.demand import Demand
from apps.console.queue.selectors.fragments import Spot, Totals
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy
from apps.workloads.queueing.estimates import Score, Scorecard
from apps.workloads.queueing.standstill import Standstill


class PassOut(serializers.Serializer[Any]):
    """The last scheduling pass."""

    number = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    milliseconds = serializers.IntegerField(read_only=True)
    waiting = serializers.IntegerField(read_only=True)


class FocusIn(serializers.Serializer[Any]):
    world = serializers.ChoiceField(choices=["real", "simulated"], default="real")
    model = serializers.CharField(required=False, allow_blank=True, default="", max_length=60)


class DemandOut(serializers.Serializer[Demand]):
    tasks = serializers.IntegerField()
    gpu_milli = serializers.IntegerField(source="milli")
    oldest = serializers.DateTimeField(allow_null=True)
    causes = serializers.SerializerMethodField()

    def get_causes(self, found: Demand) -> dict[str, int]:
        """Tasks by cause; an empty name: not looked at yet."""
        return dict(found.causes)


class WaitsOut(serializers.Serializer[Any]):
    """Of what was given a place in the last 24 hours."""

    started = serializers.IntegerField()
    p50_s = serializers.FloatField(allow_null=True)
    p90_s = serializers.FloatField(allow_null=True)


class TotalsOut(serializers.Serializer[Totals]):
    up_milli = serializers.IntegerField()
    used_milli = serializers.IntegerField()
    free_milli = serializers.IntegerField()
    fragment_milli = serializers.IntegerField()
    stranded_milli = serializers.IntegerField(source="starved_milli")
    offline_cards = serializers.IntegerField()


class StandstillOut(serializers.Serializer[Standstill]):
    """Work that has waited beside free room for longer than a minute: a fault of the scheduler."""

    workloads = serializers.ListField(child=serializers.UUIDField(), source="tasks")
    since = serializers.DateTimeField()


class SummaryOut(serializers.Serializer[Any]):
    last_pass = PassOut(allow_null=True)
    standstill = StandstillOut(allow_null=True)
    waiting = DemandOut()
    waits = WaitsOut()
    cards = TotalsOut()


class ShareOut(serializers.Serializer[Any]):
    """`recent_card_hours`, `recent_core_hours`: half of it is forgotten every seven days."""

    organisation_id = serializers.UUIDField()
    organisation = serializers.CharField(source="name")
    weight = serializers.FloatField()
    guaranteed_milli = serializers.IntegerField(source="guaranteed")
    held_milli = serializers.IntegerField(source="held")
    deserved_milli = serializers.IntegerField(source="deserved")
    borrowed_milli = serializers.IntegerField(source="borrowed")
    short_milli = serializers.IntegerField(source="short")
    unused_milli = serializers.IntegerField(source="lent")
    recent_card_hours = serializers.FloatField(source="used_card_hours")
    recent_core_hours = serializers.FloatField(source="used_core_hours")
    waiting_tasks = serializers.IntegerField(source="waiting")
    wanted_milli = serializers.IntegerField(source="wanted")
    p90_wait_s = serializers.FloatField(source="p90_s", allow_null=True)


class WaitingOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="workload.pk")
    name = serializers.CharField(source="workload.name")
    organisation = Named(source="workload.organisation")
    priority = serializers.IntegerField(source="workload.priority")
    queued_at = serializers.DateTimeField(source="workload.queued_at")
    position = serializers.IntegerField(source="report.position", allow_null=True)
    cause = serializers.CharField(source="report.cause", allow_blank=True)
    why = serializers.CharField(source="report.title")
    gpu_count = serializers.IntegerField(source="gpu.count", default=0)
    gpu_model = serializers.CharField(source="gpu.model", default=None, allow_null=True)
    gpu_mode = serializers.CharField(source="gpu.mode", default=None, allow_null=True)
    start_p50 = serializers.DateTimeField(source="report.start_p50", allow_null=True)
    start_p90 = serializers.DateTimeField(source="report.start_p90", allow_null=True)


class KeptOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="workload.pk")
    name = serializers.CharField(source="workload.name")
    organisation = Named(source="workload.organisation")
    node_ids = serializers.ListField(child=serializers.UUIDField())
    since = serializers.DateTimeField()
    start_p50 = serializers.DateTimeField(allow_null=True)
    start_p90 = serializers.DateTimeField(allow_null=True)


class SpotOut(serializers.Serializer[Spot]):
    node_id = serializers.UUIDField()
    node = serializers.CharField()
    card = serializers.IntegerField(source="index")
    mode = serializers.CharField()
    idle_milli = serializers.IntegerField()
    free_memory_mib = serializers.IntegerField()
    stranded = serializers.BooleanField(source="starved")


class ModelOut(serializers.Serializer[Any]):
    """`fragments`: the largest ones, of `pieces` in all. `largest_package_id`: the biggest that would start now."""

    model = serializers.CharField(source="use.model")
    cards = serializers.IntegerField(source="use.cards")
    used_milli = serializers.IntegerField(source="use.used_milli")
    free_milli = serializers.IntegerField()
    fragment_milli = serializers.IntegerField()
    stranded_milli = serializers.IntegerField(source="starved_milli")
    offline_cards = serializers.IntegerField(source="use.offline_cards")
    whole_cards_on_one_node = serializers.IntegerField(source="most_whole")
    offered = serializers.BooleanField()
    largest_package_id = serializers.IntegerField(source="largest.pk", default=None, allow_null=True)
    pieces = serializers.IntegerField()
    fragments = SpotOut(source="spots", many=True)


class GaveWayOut(serializers.Serializer[Any]):
    """`for`: whom it makes room for; null once that is gone."""

    id = serializers.IntegerField(source="row.pk")
    workload_id = serializers.UUIDField(source="victim.pk")
    workload = serializers.CharField(source="victim.name")
    organisation = Named(source="victim.organisation")
    node = Named(source="row.attempt.node")
    for_workload_id = serializers.UUIDField(source="row.for_workload_id")
    for_workload = serializers.CharField(source="for_workload.name", default=None, allow_null=True)
    for_organisation = Named(source="for_workload.organisation", default=None, allow_null=True)
    why = serializers.ChoiceField(choices=PreemptionWhy.choices, source="row.why")
    asked_at = serializers.DateTimeField(source="row.asked_at")
    leave_at = serializers.DateTimeField(source="row.leave_at")
    kill_at = serializers.DateTimeField(source="row.kill_at")
    outcome = serializers.ChoiceField(choices=PreemptionOutcome.choices, source="row.outcome")
    ended_at = serializers.DateTimeField(source="row.ended_at", allow_null=True)
    lost_s = serializers.FloatField(source="row.lost_s", allow_null=True)
    credited_fen = serializers.IntegerField(source="row.credited_fen")


class ScoreOut(serializers.Serializer[Score]):
    """Shares (0 to 1) of the starts; the error is that of p50."""

    starts = serializers.IntegerField()
    before_p50 = serializers.FloatField(source="before")
    p50_to_p90 = serializers.FloatField(source="inside")
    after_p90 = serializers.FloatField(source="after")
    median_error_s = serializers.FloatField(allow_null=True)


class ScorecardOut(serializers.Serializer[Scorecard]):
    since = serializers.DateTimeField()
    whole = ScoreOut()
    by_cause = serializers.DictField(child=ScoreOut())
    by_size = serializers.DictField(child=ScoreOut())
