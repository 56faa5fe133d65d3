"""Metrics, parameters and tags in the API. JSON has no NaN and no infinities: such values are text."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.verbatim import VerbatimField
from apps.tracking.downsampling import Bucket, Mark
from apps.tracking.mlflow.shapes import number
from apps.tracking.points import LONGEST_NAME, MICROSECONDS, Point, Points
from apps.tracking.selectors import Curve, SeriesInfo

ODD = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string", "enum": list(ODD)}]})
class ValueField(serializers.FloatField):
    """A number, or one of three words."""

    def to_representation(self, value: float) -> Any:
        return number(value)


class SeriesInfoSerializer(serializers.Serializer[SeriesInfo]):
    """Times in Unix seconds. `least` and `greatest` of finite values, null where there are none."""

    name = serializers.CharField(read_only=True)
    count = serializers.IntegerField(read_only=True)
    odd_count = serializers.IntegerField(read_only=True)
    last = ValueField(read_only=True)
    last_step = serializers.IntegerField(read_only=True)
    last_at = serializers.FloatField(read_only=True)
    first_step = serializers.IntegerField(read_only=True)
    first_at = serializers.FloatField(read_only=True)
    least = serializers.FloatField(read_only=True, allow_null=True)
    least_step = serializers.IntegerField(read_only=True, allow_null=True)
    greatest = serializers.FloatField(read_only=True, allow_null=True)
    greatest_step = serializers.IntegerField(read_only=True, allow_null=True)


class BucketSerializer(serializers.Serializer[Bucket]):
    x = serializers.FloatField(read_only=True)
    low = serializers.FloatField(read_only=True)
    high = serializers.FloatField(read_only=True)
    last = serializers.FloatField(read_only=True)


class MarkSerializer(serializers.Serializer[Mark]):
    x = serializers.FloatField(read_only=True)
    value = ValueField(read_only=True)


class CurveSerializer(serializers.Serializer[Curve]):
    """Per bucket of the axis the least, the greatest and the last value; `restarts`: where steps went back."""

    name = serializers.CharField(read_only=True)
    odd_count = serializers.IntegerField(read_only=True)
    buckets = BucketSerializer(many=True, read_only=True)
    marks = MarkSerializer(many=True, read_only=True)
    restarts = serializers.ListField(child=serializers.FloatField(), read_only=True)


class StoredPointSerializer(serializers.Serializer[Any]):
    step = serializers.IntegerField(read_only=True)
    at = serializers.FloatField(read_only=True)
    value = ValueField(read_only=True)


class PointPageSerializer(serializers.Serializer[Any]):
    """`next`: the `after` of the next page; null on the last."""

    count = serializers.IntegerField(read_only=True)
    next = serializers.IntegerField(read_only=True, allow_null=True)
    points = StoredPointSerializer(many=True, read_only=True)


class PointSerializer(serializers.Serializer[Point]):
    """`step`: one more than the last by default. `at` in Unix seconds. `value` may be "NaN" or "Infinity"."""

    name = VerbatimField(max_length=LONGEST_NAME)
    value = serializers.JSONField()
    step = serializers.IntegerField(required=False, allow_null=True, default=None)
    at = serializers.FloatField()

    def validate_value(self, value: Any) -> float:
        if isinstance(value, str) and value in ODD:
            return ODD[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise serializers.ValidationError(serializers.FloatField.default_error_messages["invalid"])
        return float(value)


class LogSerializer(serializers.Serializer[Any]):
    """`sender` and `number`: a sender that numbers what it sends, from 1 on, may send it again: it is taken once."""

    points = PointSerializer(many=True, required=False, default=list)
    parameters = serializers.DictField(child=VerbatimField(), required=False, default=dict)
    tags = serializers.DictField(child=VerbatimField(), required=False, default=dict)
    sender = VerbatimField(max_length=64, required=False, default="")
    number = serializers.IntegerField(min_value=1, required=False, default=1)


class LoggedSerializer(serializers.Serializer[Any]):
    points = serializers.IntegerField(read_only=True)
    repeated = serializers.BooleanField(read_only=True)


class NotesSerializer(serializers.Serializer[Any]):
    parameters = serializers.DictField(child=serializers.CharField(), read_only=True)
    tags = serializers.DictField(child=serializers.CharField(), read_only=True)


def rows_of(points: Points) -> list[dict[str, Any]]:
    columns = (points.steps.tolist(), (points.moments / MICROSECONDS).tolist(), points.values.tolist())
    return [{"step": step, "at": at, "value": value} for step, at, value in zip(*columns, strict=True)]
