"""The form of a new experiment. It only translates: every rule stands in `wanted` and in the services."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.automl.choices import ResumePolicy
from apps.automl.models import LONGEST_NAME, Experiment
from apps.automl.rows import ParameterRow, put_errors, rows_for, rows_of, split
from apps.automl.search.algorithms import SETTINGS, Algorithm, Setting, SettingKind
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.automl.search.goals import Direction, MetricStrategy, Objective
from apps.automl.search.space import Space
from apps.automl.wanted import NewExperiment
from apps.automl.words import ALGORITHMS, RESUMING, SETTING_LABELS, STRATEGIES
from apps.common.errors import DomainError
from apps.common.money_fields import YuanField
from apps.tracking.points import LONGEST_NAME as LONGEST_METRIC
from apps.training.placing import Placement
from apps.workloads.offers.cap_quote import yuan_text

_DIRECTIONS = [
    (Direction.MINIMIZE.value, pgettext_lazy("metric", "as small as possible")),
    (Direction.MAXIMIZE.value, pgettext_lazy("metric", "as large as possible")),
]
_METRIC_BOX = forms.TextInput(attrs={"list": "known-metrics", "spellcheck": "false", "autocomplete": "off"})


def _setting_field(algorithm: Algorithm, setting: Setting) -> forms.Field:
    kind = forms.IntegerField if setting.kind is SettingKind.INT else forms.FloatField
    step = {} if setting.kind is SettingKind.INT else {"step": "any"}
    return kind(
        label=SETTING_LABELS[setting.name],
        required=False,
        initial=setting.default,
        widget=forms.NumberInput(attrs={"min": setting.low, "max": setting.high, **step}),
    )


class ExperimentForm(forms.Form):
    """Parameters are rows beside the fields: `rows`. Settings of algorithms are fields `<algorithm>-<setting>`."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput)
    run = forms.UUIDField(widget=forms.HiddenInput, error_messages={"required": _("Choose the run to tune.")})
    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the experiment a name.")}
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False)
    metric = forms.CharField(
        label=_("Metric"),
        max_length=LONGEST_METRIC,
        widget=_METRIC_BOX,
        error_messages={"required": _("Name the metric to search by.")},
    )
    direction = forms.ChoiceField(label=_("It should be"), choices=_DIRECTIONS)
    goal = forms.FloatField(label=_("Goal"), required=False, widget=forms.NumberInput(attrs={"step": "any"}))
    metric_2 = forms.CharField(label=_("Second metric"), max_length=LONGEST_METRIC, required=False, widget=_METRIC_BOX)
    direction_2 = forms.ChoiceField(label=_("It should be"), choices=_DIRECTIONS, required=False)
    strategy = forms.ChoiceField(label=_("Which value of a run counts"), choices=STRATEGIES, required=False)
    extra_metrics = forms.CharField(label=_("Metrics shown beside it"), max_length=2000, required=False)
    algorithm = forms.ChoiceField(label=_("Algorithm"), choices=[(each.value, ALGORITHMS[each]) for each in Algorithm])
    early_stopping = forms.ChoiceField(
        label=_("Stop trials early"),
        choices=[
            (EarlyStoppingKind.NONE.value, _("No: each runs to its end")),
            (EarlyStoppingKind.MEDIAN.value, _("By the median of the others")),
        ],
    )
    start_step = forms.IntegerField(label=_("Not before step"), initial=4, min_value=0, required=False)
    min_trials = forms.IntegerField(label=_("Not before so many are finished"), initial=3, min_value=1, required=False)
    most_trials = forms.IntegerField(label=_("Trials in all"), initial=20, min_value=1)
    parallel = forms.IntegerField(label=_("At a time"), initial=2, min_value=1)
    most_failed = forms.IntegerField(label=_("Failed trials that are borne"), initial=3, min_value=0)
    budget = YuanField(label=_("Budget for all trials"), required=False, max_length=20)
    resume_policy = forms.ChoiceField(
        label=_("Once it has ended"), choices=[(each.value, RESUMING[each]) for each in ResumePolicy]
    )
    begins_with = forms.UUIDField(
        label=_("Begin with what was found by"),
        required=False,
        widget=forms.Select,
        help_text=_(
            "Experiments started with FromVolume. TPE and the Bayesian search learn from their finished trials."
        ),
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, min_value=0)

    def __init__(self, data: QueryDict | None = None, *, rows: list[ParameterRow] | None = None, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.rows = rows_of(data) if data is not None else rows or []
        for algorithm, settings in SETTINGS.items():
            for setting in settings:
                self.fields[f"{algorithm.value}-{setting.name}"] = _setting_field(algorithm, setting)

    def offer(self, earlier: Iterable[Experiment]) -> None:
        """Let it begin with one of these."""
        choices = [(str(each.pk), each.name) for each in earlier]
        self.fields["begins_with"].widget.choices = [("", _("Nothing: it begins anew")), *choices]

    def setting_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields of each algorithm that has any."""
        return [
            (algorithm.value, [self[f"{algorithm.value}-{each.name}"] for each in settings])
            for algorithm, settings in SETTINGS.items()
            if settings
        ]

    def wanted(self) -> NewExperiment:
        """The service's request; the form must be valid. Rows that cannot be read have their errors after it."""
        data = self.cleaned_data
        parameters = tuple(row.parameter() for row in self.rows)
        algorithm = Algorithm(data["algorithm"])
        return NewExperiment(
            name=data["name"],
            note=data["note"],
            key=data["key"],
            template_id=data["run"],
            objectives=self._objectives(),
            strategy=MetricStrategy(data["strategy"]) if data["strategy"] else None,
            extra_metrics=tuple(split(data["extra_metrics"])),
            algorithm=algorithm,
            settings=self._settings(algorithm),
            early_stopping=EarlyStopping(
                kind=EarlyStoppingKind(data["early_stopping"]),
                start_step=4 if data["start_step"] is None else data["start_step"],
                min_trials=data["min_trials"] or 3,
            ),
            parameters=parameters,
            placements={each.name: row.placement for each, row in zip(parameters, self.rows, strict=True)},
            parallel=data["parallel"],
            most_trials=data["most_trials"],
            most_failed=data["most_failed"],
            budget_fen=data["budget"],
            resume_policy=ResumePolicy(data["resume_policy"]),
            seed=data["seed"],
            begins_with=data["begins_with"],
        )

    def _objectives(self) -> tuple[Objective, ...]:
        data = self.cleaned_data
        first = Objective(metric=data["metric"].strip(), direction=Direction(data["direction"]), goal=data["goal"])
        if not data["metric_2"].strip():
            return (first,)
        direction = Direction(data["direction_2"] or Direction.MINIMIZE)
        return first, Objective(metric=data["metric_2"].strip(), direction=direction)

    def _settings(self, algorithm: Algorithm) -> dict[str, Any]:
        typed = {each.name: self.cleaned_data.get(f"{algorithm.value}-{each.name}") for each in SETTINGS[algorithm]}
        return {name: value for name, value in typed.items() if value is not None}

    @property
    def has_row_errors(self) -> bool:
        return any(row.errors for row in self.rows)

    def show(self, error: DomainError) -> None:
        """Put each part of a refusal beside the field or the row that it is about."""
        rest, placed = put_errors(self.rows, error.fields), self.has_row_errors
        algorithm = str(self["algorithm"].value() or "")
        for name, text in rest.items():
            field = _FIELDS.get(name, name.replace("settings.", f"{algorithm}-", 1))
            known = field in self.fields
            self.add_error(field if known else None, str(text))
            placed = True
        if not placed:
            self.add_error(None, error.sentences)


_FIELDS = {
    "objectives": "metric",
    "objectives.0.metric": "metric",
    "objectives.0.goal": "goal",
    "objectives.1.metric": "metric_2",
    "template": "run",
}


def initial_of(experiment: Experiment, run_id: UUID) -> dict[str, Any]:
    """The form's values for another experiment like this one, without its name."""
    objectives = [Objective.from_json(each) for each in experiment.objectives]
    second = objectives[1] if len(objectives) > 1 else None
    stopping = EarlyStopping.from_json(experiment.early_stopping)
    return {
        "run": run_id,
        "note": experiment.note,
        "metric": objectives[0].metric,
        "direction": objectives[0].direction.value,
        "goal": objectives[0].goal,
        "metric_2": second.metric if second else "",
        "direction_2": second.direction.value if second else "",
        "strategy": experiment.strategy,
        "extra_metrics": ", ".join(experiment.extra_metrics),
        "algorithm": experiment.algorithm,
        **{f"{experiment.algorithm}-{name}": value for name, value in experiment.algorithm_settings.items()},
        "early_stopping": stopping.kind.value,
        "start_step": stopping.start_step,
        "min_trials": stopping.min_trials,
        **{name: getattr(experiment, name) for name in ("most_trials", "parallel", "most_failed", "resume_policy")},
        "budget": yuan_text(experiment.budget_fen),
    }


def rows_like(experiment: Experiment) -> list[ParameterRow]:
    placements = {name: Placement.from_json(said) for name, said in experiment.placements.items()}
    return rows_for(Space.from_json(experiment.parameters).parameters, placements)


class ChangeForm(forms.Form):
    """How wide and how long it searches, changed while it runs."""

    parallel = forms.IntegerField(label=_("At a time"), min_value=1)
    most_trials = forms.IntegerField(label=_("Trials in all"), min_value=1)
    most_failed = forms.IntegerField(label=_("Failed trials that are borne"), min_value=0)
    budget = YuanField(label=_("Budget for all trials"), required=False, max_length=20)


class GoOnForm(forms.Form):
    more = forms.IntegerField(label=_("More trials"), initial=20, min_value=1)
