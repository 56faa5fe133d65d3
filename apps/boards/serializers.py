"""What the API of boards reads and writes."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from apps.boards.choices import MOST_RUNS
from apps.boards.models import Board, BoardRun
from apps.workloads.choices import Status

# More than there may be, so that too many get the same words as in the pages.
TAKEN = 10 * MOST_RUNS


class OpenSerializer(serializers.Serializer[Any]):
    """`package`: the cheapest without a GPU by default."""

    runs = serializers.ListField(
        child=serializers.UUIDField(), max_length=TAKEN, help_text="Ids of up to 10 runs that the caller may see."
    )
    package = serializers.IntegerField(required=False, allow_null=True, default=None)


class BoardRunSerializer(serializers.ModelSerializer[BoardRun]):
    """`label`: what TensorBoard calls the run."""

    id = serializers.UUIDField(source="run_id")

    class Meta:
        model = BoardRun
        fields = ("id", "label")


class BoardSerializer(serializers.ModelSerializer[Board]):
    """One TensorBoard with the state of its workload. `url`: leads its owner's browser to it once it runs."""

    name = serializers.CharField(source="workload.name")
    owner = serializers.CharField(source="owner.username")
    status = serializers.ChoiceField(source="workload.status", choices=Status.choices)
    reason = serializers.CharField(source="workload.reason")
    package = serializers.IntegerField(source="workload.package_id")
    runs = BoardRunSerializer(source="shown", many=True)
    url = serializers.SerializerMethodField()
    started_at = serializers.DateTimeField(source="workload.started_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="workload.ended_at", allow_null=True)

    class Meta:
        model = Board
        fields = (
            *("id", "name", "owner", "workload", "status", "reason", "package", "runs", "url"),
            *("created_at", "started_at", "ended_at"),
        )

    def get_url(self, board: Board) -> str:
        return reverse("open_workload", args=[board.workload_id])
