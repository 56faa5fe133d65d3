"""Attempts in the API, with the members of a gang."""

from rest_framework import serializers

from apps.workloads.driver_fields import ProgressField
from apps.workloads.models import Attempt, Member

_OBSERVED = (
    "node",
    "phase",
    "progress",
    "started_at",
    "ended_at",
    "seen_at",
    "ran_for_s",
    "usage",
    "peak_memory_mib",
    "exit_code",
    "exit_signal",
    "exit_reason",
)


class MemberSerializer(serializers.ModelSerializer[Member]):
    """One of several programs that start and end together."""

    node = serializers.CharField(source="node.name")
    progress = ProgressField(required=False)

    class Meta:
        model = Member
        fields = ("rank", *_OBSERVED)


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """One try. Of several members, `node` is that of rank 0, `usage` the sum, the exit that of the first that failed.

    `members` is empty where it is one program.
    """

    node = serializers.CharField(source="node.name")
    progress = ProgressField(required=False)
    members = MemberSerializer(many=True)

    class Meta:
        model = Attempt
        fields = ("number", "placed_at", *_OBSERVED, "members")
