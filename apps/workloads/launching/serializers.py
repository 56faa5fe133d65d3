"""What every request of the API that starts work, or asks what a start would cost, reads.

The counterpart of `form.LaunchForm`: a field that is added here is one of every kind. Money in fen.
"""

from typing import Any

from rest_framework import serializers

from apps.common.tag_serializers import TagsListField
from apps.workloads.offers.serializers import MAX_ID, AlsoField
from apps.workloads.ports.fields import OwnPortSerializer, ports_of
from apps.workloads.run_times import LEAST_IDLE_MINUTES, LEAST_S, MOST_IDLE_MINUTES, MOST_S


class TermsSerializer(serializers.Serializer[Any]):
    """What the price and the beginning of a start depend on."""

    package = serializers.IntegerField(source="package_id", min_value=1, max_value=MAX_ID)
    preemptible = serializers.BooleanField(default=True, help_text="It may be asked to give way.")
    cluster = serializers.UUIDField(
        source="cluster_id", required=False, allow_null=True, help_text="The only logical cluster to run in."
    )
    also = AlsoField(source="also_ids")
    cap_fen = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=2**53, help_text="It is saved and stopped before."
    )


class LaunchSerializer(TermsSerializer):
    """A kind's serializer adds its own fields, under the names that its request has for them."""

    name = serializers.CharField(max_length=200)
    image = serializers.UUIDField(source="image_id")
    note = serializers.CharField(required=False, allow_blank=True, max_length=200)
    tags = TagsListField(required=False)
    expected_s = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=LEAST_S,
        max_value=MOST_S,
        help_text="How long it should run; it makes the estimated starts of what waits better, and ends nothing.",
    )
    longest_s = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=LEAST_S,
        max_value=MOST_S,
        help_text="After so many seconds of running, in all, it is saved and stopped.",
    )
    gpu_idle_minutes = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=LEAST_IDLE_MINUTES,
        max_value=MOST_IDLE_MINUTES,
        help_text="It is saved and stopped once its cards have not been used for so long.",
    )

    ports = OwnPortSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]

    def launch_values(self) -> dict[str, Any]:
        """What it says for the services' requests, by their names; the serializer must be valid."""
        data = self.validated_data
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        return {**values, "ports": ports_of(values["ports"])} if "ports" in values else values
