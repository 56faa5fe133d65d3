"""How a fit is told in the API."""

from typing import Any

from rest_framework import serializers

from apps.billing.choices import Isolation
from apps.workloads.fit.peaks import MARGIN, Peaks, Size
from apps.workloads.fit.smaller import LONG_ENOUGH_S, Fit, Smaller, Verdict


class PeaksSerializer(serializers.Serializer[Peaks]):
    """The most that was measured. `gpu_util_pct` of what was granted; null: not measured."""

    ran_s = serializers.FloatField(read_only=True)
    cpu_milli = serializers.IntegerField(read_only=True, allow_null=True)
    memory_mib = serializers.IntegerField(read_only=True, allow_null=True)
    gpu_memory_mib = serializers.IntegerField(read_only=True, allow_null=True)
    gpu_util_pct = serializers.FloatField(read_only=True, allow_null=True)


class SizeSerializer(serializers.Serializer[Size]):
    cpu_milli = serializers.IntegerField(read_only=True)
    memory_mib = serializers.IntegerField(read_only=True)
    gpu_count = serializers.IntegerField(read_only=True)
    gpu_core_milli = serializers.IntegerField(read_only=True)
    gpu_memory_mib = serializers.IntegerField(read_only=True)


class SmallerSerializer(serializers.Serializer[Smaller]):
    """A package that would have been enough, and what it would have saved on this run, in fen."""

    package_id = serializers.IntegerField(source="package.pk", read_only=True)
    name_en = serializers.CharField(source="package.name_en", read_only=True)
    name_zh = serializers.CharField(source="package.name_zh", read_only=True)
    isolation = serializers.ChoiceField(source="package.isolation", choices=Isolation.choices, read_only=True)
    isolates_less = serializers.BooleanField(source="weaker", read_only=True)
    rate_fen_per_hour = serializers.DecimalField(20, 10, read_only=True)
    saved_fen = serializers.DecimalField(20, 4, read_only=True)


class FitSerializer(serializers.Serializer[Fit]):
    """`margin`: what is set aside above each peak. `judged_after_s`: shorter runs are not judged."""

    verdict = serializers.ChoiceField(choices=[(each.value, each.value) for each in Verdict], read_only=True)
    simulated = serializers.SerializerMethodField()
    peaks = PeaksSerializer(read_only=True)
    had = SizeSerializer(source="held.size", read_only=True)
    gpu_model = serializers.CharField(source="held.model", read_only=True)
    rate_fen_per_hour = serializers.DecimalField(20, 10, read_only=True)
    by_memory_alone = serializers.BooleanField(read_only=True)
    margin = serializers.SerializerMethodField()
    judged_after_s = serializers.SerializerMethodField()
    smaller = SmallerSerializer(many=True, read_only=True)

    def get_simulated(self, fit: Any) -> bool:
        """Whether the figures are made up, since the hardware is."""
        return bool(self.context.get("simulated"))

    def get_margin(self, fit: Any) -> float:
        return MARGIN

    def get_judged_after_s(self, fit: Any) -> int:
        return LONG_ENOUGH_S
