"""What-if's rows and figures, as the API sends and takes them."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.permissions import Permission as P
from apps.whatif.changes import Change, changes_of
from apps.whatif.choices import ChangeKind, Hardware, ScenarioStatus, Source
from apps.whatif.comparing import Verdict, by_organisation, figures
from apps.whatif.conclusion import conclusion
from apps.whatif.models import Scenario, Trace
from apps.whatif.sizing import Size
from apps.whatif.words import chips, failure


class ChangeIn(serializers.Serializer[Any]):
    """`kind` decides which of the others count; amounts as people write them (cards, yuan an hour, minutes)."""

    kind = serializers.ChoiceField(choices=ChangeKind.choices)
    organisation = serializers.CharField(required=False, help_text="id or name: guarantee, weight")
    gpu_model = serializers.CharField(required=False, allow_blank=True, help_text="empty for any: guarantee")
    cards = serializers.CharField(required=False, help_text="cards guaranteed, three decimals at most")
    weight = serializers.IntegerField(required=False)
    user = serializers.CharField(required=False, help_text="user name: priority")
    priority = serializers.IntegerField(required=False)
    package = serializers.CharField(required=False, help_text="id: price")
    price = serializers.CharField(required=False, help_text="yuan an hour, four decimals at most")
    minutes = serializers.CharField(required=False, help_text="min_runtime")
    node = serializers.CharField(required=False, help_text="id or name: mode, node_add, node_remove")
    which = serializers.CharField(required=False, allow_blank=True, help_text="cards by number, 4-7; empty for all")
    mode = serializers.CharField(required=False, help_text="whole, shared, vgpu or mig")
    layout = serializers.CharField(required=False, allow_blank=True, help_text="3g.40gb, 1g.10gb×4; empty for any")
    count = serializers.IntegerField(required=False, help_text="node_add")


class SpanIn(serializers.Serializer[Any]):
    """What is replayed, and on what."""

    source = serializers.ChoiceField(choices=Source.choices, default=Source.HISTORY)  # type: ignore[assignment]
    hardware = serializers.ChoiceField(choices=Hardware.choices, default=Hardware.REAL)
    plain_nodes = serializers.IntegerField(required=False, default=0, min_value=0)
    trace = serializers.UUIDField(required=False, allow_null=True, default=None)
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class ScenarioIn(SpanIn):
    name = serializers.CharField(max_length=120)
    changes = ChangeIn(many=True)


class SizeOut(serializers.Serializer[Size]):
    tasks = serializers.IntegerField(read_only=True)
    cards = serializers.IntegerField(read_only=True)
    seconds = serializers.FloatField(read_only=True)


class FigureOut(serializers.Serializer[Any]):
    """`a` and `b` in `unit`: seconds, a share of 1, a count, whole fen."""

    key = serializers.CharField(read_only=True)
    unit = serializers.CharField(read_only=True)
    a = serializers.FloatField(read_only=True, allow_null=True)
    b = serializers.FloatField(read_only=True, allow_null=True)
    verdict = serializers.ChoiceField(choices=[verdict.value for verdict in Verdict], read_only=True)


class ScenarioOrganisationOut(serializers.Serializer[Any]):
    name = serializers.CharField(read_only=True)
    tasks = serializers.IntegerField(read_only=True)
    mean = FigureOut(read_only=True)
    p90 = FigureOut(read_only=True)
    evictions = FigureOut(read_only=True)
    gpu_hours = FigureOut(read_only=True)
    revenue = FigureOut(read_only=True, allow_null=True)


class ScenarioRow(serializers.Serializer[Scenario]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    source = serializers.ChoiceField(choices=Source.choices, read_only=True)  # type: ignore[assignment]
    hardware = serializers.ChoiceField(choices=Hardware.choices, read_only=True)
    simulated = serializers.BooleanField(read_only=True)
    trace = serializers.UUIDField(source="trace_id", read_only=True, allow_null=True)
    start = serializers.DateTimeField(read_only=True)
    end = serializers.DateTimeField(read_only=True)
    status = serializers.ChoiceField(choices=ScenarioStatus.choices, read_only=True)
    progress = serializers.FloatField(read_only=True)
    made_by = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)


class ScenarioOut(ScenarioRow):
    """With its changes in words and, once it is done, its figures. Revenue only to those who may see money."""

    changes = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()
    tasks = serializers.SerializerMethodField()
    conclusion = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()
    organisations = serializers.SerializerMethodField()

    @property
    def _money(self) -> bool:
        return bool(self.context["actor"].may(P.PLATFORM_FINANCE_VIEW))

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_changes(self, row: Scenario) -> list[str]:
        changes: tuple[Change, ...] = changes_of(row.changes)
        return chips(changes, money=self.context["actor"].may(P.PLATFORM_PRICES_VIEW))

    @extend_schema_field(OpenApiTypes.STR)
    def get_error(self, row: Scenario) -> str:
        return failure(row)

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_tasks(self, row: Scenario) -> int | None:
        tasks: int | None = row.result.get("tasks")
        return tasks

    @extend_schema_field(OpenApiTypes.STR)
    def get_conclusion(self, row: Scenario) -> str:
        if not row.result:
            return ""
        return conclusion(figures(row.result, money=self._money), by_organisation(row.result, money=self._money))

    @extend_schema_field(FigureOut(many=True))
    def get_figures(self, row: Scenario) -> Any:
        return FigureOut(figures(row.result, money=self._money), many=True).data if row.result else []

    @extend_schema_field(ScenarioOrganisationOut(many=True))
    def get_organisations(self, row: Scenario) -> Any:
        return (
            ScenarioOrganisationOut(by_organisation(row.result, money=self._money), many=True).data
            if row.result
            else []
        )


class TraceIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    file = serializers.FileField()


class TraceOut(serializers.Serializer[Trace]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    tasks = serializers.IntegerField(read_only=True)
    first_at = serializers.DateTimeField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True)
    made_by = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
