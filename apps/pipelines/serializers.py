"""What the API of pipelines reads and writes. Words for refusals are those of the pages."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.pipelines.choices import LONGEST_NAME, Cause, EndReason, Hurdle, RunStatus, StepStatus, Why
from apps.pipelines.graph.faults import MOST_STEPS
from apps.pipelines.graph.steps import Bound, Comparison, Graph, Need, Step, When
from apps.pipelines.models import Pipeline, PipelineRun, StepRun
from apps.pipelines.selectors import newest_version
from apps.pipelines.services import PipelineDraft

LONGEST_TEXT = 4000


class PipelineNeedSerializer(serializers.Serializer[Any]):
    """An edge. With `metric`, `comparison` and `value` the needed step has to succeed within that bound."""

    step = serializers.CharField(max_length=100)
    when = serializers.ChoiceField(choices=[each.value for each in When], default=When.SUCCEEDED.value)
    metric = serializers.CharField(max_length=250, required=False)
    comparison = serializers.ChoiceField(choices=[each.value for each in Comparison], required=False)
    value = serializers.FloatField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = [name for name in ("metric", "comparison", "value") if name in attrs]
        if 0 < len(named) < 3 or (attrs["when"] == When.METRIC and not named):
            raise serializers.ValidationError("metric, comparison and value belong together.")
        return attrs


class StepRowSerializer(serializers.Serializer[Any]):
    """An argument or a variable. `${name}` in its value stands for a parameter of the pipeline."""

    name = serializers.CharField(max_length=200)
    value = serializers.CharField(max_length=LONGEST_TEXT, allow_blank=True, default="")


class PipelineStepSerializer(serializers.Serializer[Any]):
    """`run`: what it is like. `inputs`: needed steps whose output it reads below `/workspace/inputs`."""

    name = serializers.CharField(max_length=100)
    run = serializers.UUIDField()
    needs = serializers.ListField(child=PipelineNeedSerializer(), default=list, max_length=MOST_STEPS)
    inputs = serializers.ListField(child=serializers.CharField(max_length=100), default=list, max_length=MOST_STEPS)
    arguments = serializers.ListField(child=StepRowSerializer(), default=list, max_length=100)
    environment = serializers.ListField(child=StepRowSerializer(), default=list, max_length=100)
    retries = serializers.IntegerField(default=0)
    pause_s = serializers.IntegerField(default=0)
    may_fail = serializers.BooleanField(default=False)


class PipelineDraftSerializer(serializers.Serializer[Any]):
    """`budget_fen`: the most that the steps of one run cost together. `dataset`: whose new versions start it."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")
    parameters = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_TEXT, allow_blank=True), default=dict
    )
    steps = serializers.ListField(child=PipelineStepSerializer(), max_length=MOST_STEPS + 1)
    budget_fen = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    dataset = serializers.UUIDField(required=False, allow_null=True, default=None)


def draft_of(data: Mapping[str, Any]) -> PipelineDraft:
    """The service's request from validated data."""
    graph = Graph(steps=tuple(_step(each) for each in data["steps"]), parameters=dict(data["parameters"]))
    return PipelineDraft(
        name=data["name"], note=data["note"], graph=graph, budget_fen=data["budget_fen"], dataset_id=data["dataset"]
    )


def _step(said: Mapping[str, Any]) -> Step:
    return Step(
        name=said["name"],
        template=str(said["run"]),
        needs=tuple(_need(each) for each in said["needs"]),
        inputs=tuple(said["inputs"]),
        arguments=tuple((each["name"], each["value"]) for each in said["arguments"]),
        environment=tuple((each["name"], each["value"]) for each in said["environment"]),
        retries=said["retries"],
        pause_s=said["pause_s"],
        may_fail=said["may_fail"],
    )


def _need(said: Mapping[str, Any]) -> Need:
    if "metric" not in said:
        return Need(step=said["step"], when=When(said["when"]))
    bound = Bound(metric=said["metric"], comparison=Comparison(said["comparison"]), value=said["value"])
    return Need(step=said["step"], when=When.METRIC, bound=bound)


class PipelineSerializer(serializers.ModelSerializer[Pipeline]):
    """`version`: the number of the newest, whose `steps` and `parameters` these are."""

    owner = serializers.CharField(source="owner.username")
    version = serializers.IntegerField(source="newest")
    steps = serializers.SerializerMethodField()
    parameters = serializers.SerializerMethodField()
    budget_fen = serializers.SerializerMethodField()
    has_hook = serializers.SerializerMethodField()
    run_count = serializers.IntegerField()
    last_status = serializers.ChoiceField(choices=RunStatus.choices, allow_null=True)

    class Meta:
        model = Pipeline
        fields = (
            *("id", "name", "note", "owner", "version", "parameters", "steps", "budget_fen", "dataset", "has_hook"),
            *("run_count", "last_status", "created_at"),
        )

    @extend_schema_field(PipelineStepSerializer(many=True))
    def get_steps(self, pipeline: Pipeline) -> list[dict[str, Any]]:
        return [_told(each) for each in newest_version(pipeline).graph["steps"]]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_parameters(self, pipeline: Pipeline) -> dict[str, str]:
        found: dict[str, str] = newest_version(pipeline).graph["parameters"]
        return found

    @extend_schema_field({"type": "integer", "nullable": True})
    def get_budget_fen(self, pipeline: Pipeline) -> int | None:
        return newest_version(pipeline).budget_fen

    @extend_schema_field(serializers.BooleanField())
    def get_has_hook(self, pipeline: Pipeline) -> bool:
        return bool(pipeline.hook_digest)


def _told(said: Mapping[str, Any]) -> dict[str, Any]:
    rows = {name: [{"name": key, "value": value} for key, value in said[name]] for name in ("arguments", "environment")}
    return {**{name: value for name, value in said.items() if name != "template"}, "run": said["template"], **rows}


class PipelineStartSerializer(serializers.Serializer[Any]):
    """`parameters`: those that are other than the pipeline has them."""

    parameters = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_TEXT, allow_blank=True), default=dict
    )


class HookStartSerializer(PipelineStartSerializer):
    """`key`: what it is for; the same starts the pipeline once. The header Idempotency-Key does as well."""

    key = serializers.CharField(max_length=64, required=False, default="")


class HookTokenSerializer(serializers.Serializer[Any]):
    """The token is shown once."""

    token = serializers.CharField()
    url = serializers.CharField()


class RunAgainSerializer(serializers.Serializer[Any]):
    """`step`: from there on, also what succeeded; without it what did not succeed."""

    step = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)


class StepRunSerializer(serializers.ModelSerializer[StepRun]):
    """One attempt. `why`: the reason of an end that was not its program's; `detail` names what it is about."""

    status = serializers.ChoiceField(choices=StepStatus.choices)
    why = serializers.ChoiceField(choices=Why.choices)

    class Meta:
        model = StepRun
        fields = ("step", "attempt", "status", "run", "why", "detail", "due_at", "created_at", "ended_at")


class PipelineRunSerializer(serializers.ModelSerializer[PipelineRun]):
    """`reason`: why it was ended before all of its steps were; `hurdle`: why no step is started now."""

    pipeline = serializers.UUIDField(source="pipeline_id")
    version = serializers.IntegerField(source="version.number")
    owner = serializers.CharField(source="owner.username")
    cause = serializers.ChoiceField(choices=Cause.choices)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    reason = serializers.ChoiceField(choices=EndReason.choices)
    hurdle = serializers.ChoiceField(choices=Hurdle.choices)
    parameters = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = PipelineRun
        fields = (
            *("id", "pipeline", "number", "version", "owner", "cause", "parameters", "dataset_version", "status"),
            *("reason", "hurdle", "created_at", "ended_at"),
        )
