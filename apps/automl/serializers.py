"""What the API of experiments reads and writes. Words for refusals are those of the pages."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.automl.choices import EndReason, ExperimentStatus, Hurdle, ResumePolicy, TrialStatus
from apps.automl.models import LONGEST_NAME, Experiment, Trial
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.automl.search.goals import Direction, MetricStrategy, Objective
from apps.automl.search.space import Condition, Parameter, ParameterKind
from apps.automl.wanted import NewExperiment
from apps.tracking.points import LONGEST_NAME as LONGEST_METRIC
from apps.training.placing import PlacedAs, Placement, default_placement

MOST_PARAMETERS = 60
"""More than there may be, so that too many get the same words as in the pages."""


class ParameterValueBase(serializers.Field[Any, Any, Any, Any]):
    """A text, a number, or true and false."""

    default_error_messages = {"invalid": "A text, a number, true or false."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, (str, int, float, bool)):
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]})
class Value(ParameterValueBase):
    pass


class ConditionSerializer(serializers.Serializer[Any]):
    parameter = serializers.CharField(max_length=100)
    values = serializers.ListField(child=Value(), max_length=1000)


class PlacementSerializer(serializers.Serializer[Any]):
    """An argument whose name ends in `=` is one word with its value."""

    placed_as = serializers.ChoiceField(choices=PlacedAs.choices, default=PlacedAs.ARGUMENT)
    name = serializers.CharField(max_length=200)


class ParameterSerializer(serializers.Serializer[Any]):
    """`low` and `high` of `double` and `int`, both included; `choices` of `categorical` and `discrete`.

    `placement`: by default the argument `--<name>`.
    """

    name = serializers.CharField(max_length=200)
    kind = serializers.ChoiceField(choices=[each.value for each in ParameterKind])
    low = serializers.FloatField(required=False, allow_null=True, default=None)
    high = serializers.FloatField(required=False, allow_null=True, default=None)
    step = serializers.FloatField(required=False, allow_null=True, default=None)
    log = serializers.BooleanField(default=False)
    choices = serializers.ListField(child=Value(), default=list, max_length=2000)
    condition = ConditionSerializer(required=False, allow_null=True, default=None)
    placement = PlacementSerializer(required=False, allow_null=True, default=None)


class ObjectiveSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField(max_length=LONGEST_METRIC)
    direction = serializers.ChoiceField(choices=[each.value for each in Direction])
    goal = serializers.FloatField(required=False, allow_null=True, default=None)


class EarlyStoppingSerializer(serializers.Serializer[Any]):
    """`start_step`: how many values a trial says before it may be stopped."""

    kind = serializers.ChoiceField(choices=[each.value for each in EarlyStoppingKind], default="none")
    start_step = serializers.IntegerField(default=4)
    min_trials = serializers.IntegerField(default=3)


class NewExperimentSerializer(serializers.Serializer[Any]):
    """`run`: what each trial is like. `objectives`: one, or two, whose results are a front of compromises.

    `settings`: of the algorithm. `budget_fen`: the most that all trials cost together. `strategy`: which value of a run
    counts; the best that it ever said by default.
    """

    run = serializers.UUIDField()
    name = serializers.CharField(max_length=LONGEST_NAME)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")
    objectives = ObjectiveSerializer(many=True)
    strategy = serializers.ChoiceField(
        choices=[each.value for each in MetricStrategy], required=False, allow_null=True, default=None
    )
    extra_metrics = serializers.ListField(child=serializers.CharField(max_length=LONGEST_METRIC), default=list)
    algorithm = serializers.ChoiceField(choices=[each.value for each in Algorithm], default=Algorithm.TPE.value)
    settings = serializers.DictField(child=serializers.FloatField(), default=dict)
    early_stopping = EarlyStoppingSerializer(default=dict)
    parameters = serializers.ListField(child=ParameterSerializer(), max_length=MOST_PARAMETERS)
    parallel = serializers.IntegerField(default=1)
    most_trials = serializers.IntegerField(default=20)
    most_failed = serializers.IntegerField(default=3)
    budget_fen = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    resume_policy = serializers.ChoiceField(choices=ResumePolicy.choices, default=ResumePolicy.LONG_RUNNING)
    seed = serializers.IntegerField(required=False, allow_null=True, default=None)
    begins_with = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Another experiment, started with FromVolume: the search knows its finished trials from the start.",
    )


def wanted_of(data: Mapping[str, Any], key: str) -> NewExperiment:
    """The service's request from validated data."""
    parameters = tuple(_parameter(each) for each in data["parameters"])
    stopping = {"kind": "none", "start_step": 4, "min_trials": 3, **data["early_stopping"]}
    return NewExperiment(
        key=key,
        template_id=data["run"],
        objectives=tuple(Objective.from_json(each) for each in data["objectives"]),
        strategy=MetricStrategy(data["strategy"]) if data["strategy"] else None,
        extra_metrics=tuple(data["extra_metrics"]),
        algorithm=Algorithm(data["algorithm"]),
        settings={name: _whole(value) for name, value in data["settings"].items()},
        early_stopping=EarlyStopping.from_json(stopping),
        parameters=parameters,
        placements={each.name: _placement(said) for each, said in zip(parameters, data["parameters"], strict=True)},
        **{
            name: data[name]
            for name in (
                *("name", "note", "parallel", "most_trials", "most_failed", "budget_fen", "seed", "begins_with"),
            )
        },
        resume_policy=ResumePolicy(data["resume_policy"]),
    )


def _parameter(said: Mapping[str, Any]) -> Parameter:
    condition = said["condition"]
    whole = said["kind"] == ParameterKind.INT
    numbers = {name: said[name] for name in ("low", "high", "step")}
    return Parameter(
        name=said["name"],
        kind=ParameterKind(said["kind"]),
        **({name: _whole(value) for name, value in numbers.items()} if whole else numbers),
        log=said["log"],
        choices=tuple(said["choices"]),
        condition=Condition.from_json(condition) if condition else None,
    )


def _placement(said: Mapping[str, Any]) -> Placement:
    placed = said["placement"]
    return Placement(PlacedAs(placed["placed_as"]), placed["name"]) if placed else default_placement(said["name"])


def _whole(value: float | None) -> Any:
    """A whole number as such: settings that count things are whole."""
    return int(value) if value is not None and float(value).is_integer() else value


class ExperimentChangeSerializer(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    parallel = serializers.IntegerField(required=False)
    most_trials = serializers.IntegerField(required=False)
    most_failed = serializers.IntegerField(required=False)
    budget_fen = serializers.IntegerField(required=False, allow_null=True, min_value=1)


class MoreTrialsSerializer(serializers.Serializer[Any]):
    more = serializers.IntegerField(help_text="How many trials more.")


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """`counts` of its trials. `reason`: why it ends or has ended; `hurdle`: why no trial is started now."""

    run = serializers.UUIDField(source="template_id")
    owner = serializers.CharField(source="owner.username")
    status = serializers.ChoiceField(choices=ExperimentStatus.choices)
    reason = serializers.ChoiceField(choices=EndReason.choices)
    hurdle = serializers.ChoiceField(choices=Hurdle.choices)
    resume_policy = serializers.ChoiceField(choices=ResumePolicy.choices)
    objectives = ObjectiveSerializer(many=True)
    early_stopping = EarlyStoppingSerializer()
    settings = serializers.DictField(source="algorithm_settings", child=serializers.FloatField())
    begins_with = serializers.UUIDField(source="begins_with_id", allow_null=True)
    parameters = serializers.SerializerMethodField()
    made_trials = serializers.IntegerField(source="trial_count")
    live_trials = serializers.IntegerField(source="live_count")
    failed_trials = serializers.IntegerField(source="failed_count")

    class Meta:
        model = Experiment
        fields = (
            *("id", "name", "note", "run", "owner", "status", "reason", "hurdle", "objectives", "strategy"),
            *("extra_metrics", "algorithm", "settings", "early_stopping", "parameters", "seed", "parallel"),
            *("most_trials", "most_failed", "budget_fen", "resume_policy", "begins_with", "made_trials", "live_trials"),
            *("failed_trials", "paused_at", "created_at", "ended_at"),
        )

    @extend_schema_field(ParameterSerializer(many=True))
    def get_parameters(self, experiment: Experiment) -> list[dict[str, Any]]:
        placed = experiment.placements
        return [
            {**each, "placement": {"placed_as": placed[each["name"]]["as"], "name": placed[each["name"]]["name"]}}
            for each in experiment.parameters["parameters"]
        ]


class TrialSerializer(serializers.ModelSerializer[Trial]):
    """`objectives`: what it reached, in the order of the experiment's.

    `goes_on_from`: the trial with whose checkpoint it began.
    """

    values = serializers.DictField(child=Value())
    objectives = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    status = serializers.ChoiceField(choices=TrialStatus.choices)
    run = serializers.UUIDField(source="run_id", allow_null=True)
    goes_on_from = serializers.IntegerField(source="parent.number", allow_null=True, default=None)

    class Meta:
        model = Trial
        fields = ("number", "status", "values", "objectives", "run", "goes_on_from", "created_at", "ended_at")
