"""How metrics of a run are read, in the API."""

import math
from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.tracking.collecting.reading.own_patterns import LONGEST, MOST
from apps.tracking.collecting.settings import MetricSettings
from apps.tracking.collecting.trying import LONGEST_SAMPLE
from apps.tracking.points import Point


class MetricSettingsSerializer(serializers.Serializer[Any]):
    """`read`: whether its log and output are read for metrics. `patterns`: regular expressions in place of the house's
    rules for the log, with groups `name` and `value`, or one that is called as its metric is; optional: `step`."""

    read = serializers.BooleanField(default=True)
    patterns = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST, trim_whitespace=False), required=False, max_length=MOST
    )


class TrySerializer(serializers.Serializer[Any]):
    """Lines of a log, and patterns to try on them; without any, the house's rules are tried."""

    patterns = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False), required=False, default=list, max_length=MOST
    )
    sample = serializers.CharField(trim_whitespace=False, max_length=LONGEST_SAMPLE)


class TriedPointSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.SerializerMethodField(method_name="number_or_name")
    step = serializers.IntegerField(allow_null=True)

    def number_or_name(self, point: Point) -> float | str:
        """A number, or `NaN`, `Infinity` or `-Infinity` as a text, which JSON has no numbers for."""
        if math.isfinite(point.value):
            return point.value
        return "NaN" if math.isnan(point.value) else "Infinity" if point.value > 0 else "-Infinity"


class TriedSerializer(serializers.Serializer[Any]):
    line = serializers.CharField()
    points = TriedPointSerializer(many=True)


class ProgressSerializer(serializers.Serializer[Any]):
    """What the log says of a run: `done` of `total` in `unit`, `percent` of the whole, seconds left at this pace."""

    percent = serializers.FloatField(allow_null=True)
    done = serializers.FloatField(allow_null=True)
    total = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    epoch = serializers.FloatField(allow_null=True)
    epochs = serializers.IntegerField(allow_null=True)
    left_s = serializers.FloatField(allow_null=True)
    per_s = serializers.FloatField(allow_null=True)


def settings_in(values: Mapping[str, Any]) -> MetricSettings:
    return MetricSettings.from_json(values)
