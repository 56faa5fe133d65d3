"""What the API of arrays reads and writes."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.verbatim import VerbatimField
from apps.training.arrays.lines import MOST_LINES, MOST_TEXT, Line, Shape, read_lines
from apps.training.arrays.selectors import LineState, progress_of
from apps.training.models import RunArray
from apps.training.serializers import PairsField, SubmitSerializer
from apps.workloads.choices import Status


class ArraySubmitSerializer(SubmitSerializer):
    """A run to start with several sets of arguments: `lines` as the page takes them, up to 200.

    `shape` words: each line is added to `arguments`; csv: the first line names arguments, the others have values.
    """

    lines = VerbatimField(max_length=MOST_TEXT)
    shape = serializers.ChoiceField(choices=Shape.choices, default=Shape.WORDS)
    at_once = serializers.IntegerField(
        min_value=1, max_value=MOST_LINES, required=False, allow_null=True, default=None,
        help_text="The most of its runs that live together; null: as many as quota and balance let.",
    )  # fmt: skip

    def read(self, key: str) -> tuple[Any, list[Line], int | None]:
        """The service's request, lines and limit; the serializer must be valid. Raises `Invalid` beside `lines`."""
        data = self.validated_data
        text, shape, at_once = data.pop("lines"), Shape(data.pop("shape")), data.pop("at_once")
        return self.as_request(key), read_lines(text, shape, data.get("arguments", ())), at_once


class ArrayLineSerializer(serializers.Serializer[LineState]):
    """`due`: it has not started yet. `refused`: why it did not, in words. `run`: the last try of `tries`."""

    number = serializers.IntegerField(source="row.number")
    arguments = PairsField(source="row.arguments")
    due = serializers.BooleanField(source="row.due")
    refused = serializers.CharField(source="row.refused")
    tries = serializers.IntegerField()
    run = serializers.UUIDField(source="run.pk", allow_null=True, default=None)
    status = serializers.ChoiceField(
        source="run.workload.status", choices=Status.choices, allow_null=True, default=None
    )


class ProgressCountsSerializer(serializers.Serializer[Any]):
    """Lines by where they stand; together they are `total`."""

    total = serializers.IntegerField()
    waiting = serializers.IntegerField()
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    stopped = serializers.IntegerField()


class ArraySerializer(serializers.ModelSerializer[RunArray]):
    """`waits`: why the next line has not started yet, in words; empty where nothing keeps it."""

    owner = serializers.CharField(source="owner.username")
    progress = serializers.SerializerMethodField()
    lines = serializers.SerializerMethodField()

    class Meta:
        model = RunArray
        fields = ("id", "name", "owner", "at_once", "waits", "created_at", "progress", "lines")

    @extend_schema_field(ProgressCountsSerializer)
    def get_progress(self, array: RunArray) -> Any:
        return ProgressCountsSerializer(progress_of(self.context["lines"])).data

    @extend_schema_field(ArrayLineSerializer(many=True))
    def get_lines(self, array: RunArray) -> Any:
        return ArrayLineSerializer(self.context["lines"], many=True).data
