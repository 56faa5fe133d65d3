"""What the API of schedules reads and writes."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.schedules.choices import LONGEST_NAME, Overlap
from apps.schedules.cron.expression import LONGEST, read_cron
from apps.schedules.cron.words import cron_words
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.services import Plan


class PlanSerializer(serializers.Serializer[Any]):
    """`cron`: minute, hour, day of the month, month, day of the week, in the billing zone."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    cron = serializers.CharField(max_length=LONGEST)
    from_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    until_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    overlap = serializers.ChoiceField(choices=Overlap.choices, default=Overlap.SKIP)

    def plan(self) -> Plan:
        """The serializer must be valid."""
        data = {name: self.validated_data[name] for name in ("name", "cron", "from_at", "until_at")}
        return Plan(**data, overlap=Overlap(self.validated_data["overlap"]))


class NewScheduleSerializer(PlanSerializer):
    """`run` or `pipeline`: what is started again; one of them."""

    run = serializers.UUIDField(required=False)
    pipeline = serializers.UUIDField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len({"run", "pipeline"} & attrs.keys()) != 1:
            raise serializers.ValidationError({"run": _("Name a run or a pipeline.")})
        return attrs


class ScheduleSerializer(serializers.ModelSerializer[Schedule]):
    """`words`: the expression in the reader's language. `next_at`: null unless it is active."""

    owner = serializers.CharField(source="owner.username")
    pipeline = serializers.UUIDField(source="target_id", allow_null=True)
    words = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Schedule
        fields = (
            *("id", "name", "owner", "run", "pipeline", "cron", "words", "from_at", "until_at", "overlap"),
            *("status", "status_since", "pause_reason", "next_at", "refusals", "created_at", "url"),
        )

    @extend_schema_field(serializers.CharField())
    def get_words(self, schedule: Schedule) -> str:
        return cron_words(read_cron(schedule.cron))

    def get_url(self, schedule: Schedule) -> str:
        return reverse("schedules:detail", args=[schedule.pk])


class StartSerializer(serializers.ModelSerializer[ScheduledStart]):
    """One start. `why`: the reason of one that was skipped; `detail`: what was said to it. `missed`: earlier moments
    that passed while nothing looked, for which it stands as well. `started`: the run of a pipeline."""

    started = serializers.UUIDField(source="started_id", allow_null=True)

    class Meta:
        model = ScheduledStart
        fields = (
            "id",
            "moment",
            "cause",
            "missed",
            "status",
            "why",
            "detail",
            "run",
            "started",
            "created_at",
            "decided_at",
        )
