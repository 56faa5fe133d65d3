"""JSON of searches on tables. Rules stand in `wanted`; here are shapes alone."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.tabular.choices import Learner, Metric, Task, Warned
from apps.tabular.models import TableSearch
from apps.tabular.wanted import LARGEST_SEED, MOST_FOLDS, MOST_MINUTES, NewSearch
from apps.training.services import LONGEST_NAME
from apps.workloads.choices import Status


class PreviewQuerySerializer(serializers.Serializer[Any]):
    """`target`: the column to predict, for what would give it away."""

    version = serializers.UUIDField()
    file = serializers.CharField(max_length=4000, trim_whitespace=False)
    target = serializers.CharField(max_length=200, required=False, default="", allow_blank=True, trim_whitespace=False)


class ColumnSerializer(serializers.Serializer[Any]):
    """`missing`, a share, and `distinct` are of the rows that were read; null where none were."""

    name = serializers.CharField()
    type = serializers.CharField()
    is_number = serializers.BooleanField()
    missing = serializers.FloatField(allow_null=True)
    distinct = serializers.IntegerField(allow_null=True)
    examples = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.ChoiceField(choices=Warned.choices))


class PreviewSerializer(serializers.Serializer[Any]):
    """`rows`: in all, null where only the head was read. `target`, `task`: as they would be guessed."""

    columns = ColumnSerializer(many=True)
    size = serializers.IntegerField()
    rows = serializers.IntegerField(allow_null=True)
    rows_read = serializers.IntegerField()
    target = serializers.CharField()
    task = serializers.ChoiceField(choices=Task.choices)
    leaky = serializers.ListField(child=serializers.CharField())


class NewTableSearchSerializer(serializers.Serializer[Any]):
    """`folds` 0: one part of the share `holdout` is held out instead. `test`: the share that no trial sees.

    `group`: rows of one value stay together; `time`: earlier rows foretell later ones.
    """

    name = serializers.CharField(max_length=LONGEST_NAME)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")
    version = serializers.UUIDField(help_text="The dataset's version.")
    file = serializers.CharField(max_length=4000, trim_whitespace=False)
    package = serializers.IntegerField()
    target = serializers.CharField(max_length=200, trim_whitespace=False)
    task = serializers.ChoiceField(choices=Task.choices)
    metric = serializers.ChoiceField(choices=Metric.choices)
    left_out = serializers.ListField(child=serializers.CharField(max_length=200), default=list, max_length=500)
    folds = serializers.IntegerField(default=5, min_value=0, max_value=MOST_FOLDS)
    holdout = serializers.FloatField(default=0.2)
    test = serializers.FloatField(default=0.2)
    group = serializers.CharField(max_length=200, default="", allow_blank=True, trim_whitespace=False)
    time = serializers.CharField(max_length=200, default="", allow_blank=True, trim_whitespace=False)
    minutes = serializers.IntegerField(default=10, min_value=1, max_value=MOST_MINUTES)
    learners = serializers.ListField(
        child=serializers.ChoiceField(choices=Learner.choices), default=lambda: list(Learner), max_length=len(Learner)
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=LARGEST_SEED - 1)
    cap_fen = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    preemptible = serializers.BooleanField(default=True)


def wanted_of(data: Mapping[str, Any], key: str) -> NewSearch:
    """The service's request from validated data."""
    same = (
        *("name", "note", "file", "target", "folds", "holdout", "test", "group", "time", "minutes", "seed"),
        *("cap_fen", "preemptible"),
    )
    return NewSearch(
        **{name: data[name] for name in same},
        key=key,
        image_id=data["version"],
        version_id=data["version"],
        package_id=data["package"],
        task=Task(data["task"]),
        metric=Metric(data["metric"]),
        left_out=tuple(data["left_out"]),
        learners=tuple(dict.fromkeys(Learner(each) for each in data["learners"])),
    )


class TableSearchSerializer(serializers.ModelSerializer[TableSearch]):
    """`run`: its newest, whose log, metrics, outputs and end are those of any run; `version` null: the dataset is
    gone."""

    name = serializers.CharField()
    note = serializers.CharField()
    owner = serializers.CharField(source="owner.username")
    status = serializers.ChoiceField(choices=Status.choices)
    run = serializers.UUIDField(source="run_id")
    version = serializers.UUIDField(source="version_id", allow_null=True)
    file = serializers.CharField(source="path")
    task = serializers.ChoiceField(choices=Task.choices)
    metric = serializers.ChoiceField(choices=Metric.choices)
    settings = serializers.DictField()

    class Meta:
        model = TableSearch
        fields = (
            *("id", "name", "note", "owner", "status", "run", "version", "dataset_name", "dataset_number", "file"),
            *("target", "task", "metric", "settings", "created_at"),
        )


class ResultsSerializer(serializers.Serializer[Any]):
    """`leaderboard.json`, `result.json` and `problem.json` of the output, as the program wrote them; null before."""

    leaderboard = serializers.DictField(allow_null=True)
    result = serializers.DictField(allow_null=True)
    problem = serializers.DictField(allow_null=True)
