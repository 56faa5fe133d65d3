"""The form of a new search on a table. It only translates: every rule stands in `wanted` and in the services."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.tabular.choices import METRICS, Learner, Metric, Task
from apps.tabular.wanted import LARGEST_SEED, MOST_FOLDS, MOST_MINUTES, NewSearch
from apps.training.services import LONGEST_NAME, clean_name
from apps.workloads.launching.form import LaunchForm


class TableSearchForm(LaunchForm):
    """`target` and `left_out` are chosen in the table of columns."""

    check_name = staticmethod(clean_name)
    image = None  # type: ignore[assignment]  # the platform's own runtime

    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the search a name.")}
    )
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)
    version = forms.UUIDField(
        widget=forms.HiddenInput, error_messages={"required": _("Choose a table."), "invalid": _("Choose a table.")}
    )
    file = forms.CharField(
        max_length=4000, strip=False, widget=forms.HiddenInput, error_messages={"required": _("Choose a table.")}
    )
    target = forms.CharField(
        label=_("Column to predict"),
        max_length=200,
        strip=False,
        error_messages={"required": _("Choose the column to predict.")},
    )
    left_out = forms.Field(label=_("Columns left out"), required=False, widget=forms.SelectMultiple)
    task = forms.ChoiceField(label=_("Task"), choices=Task.choices)
    metric = forms.ChoiceField(
        label=_("Metric"),
        choices=[(task.label, [(each.value, each.label) for each in METRICS[task]]) for task in Task],
    )
    folds = forms.TypedChoiceField(
        label=_("How trials are measured"),
        coerce=int,
        choices=[
            (0, _("One held-out part: quick, for large tables")),
            *((number, _("%(folds)s folds") % {"folds": number}) for number in (3, 5, MOST_FOLDS)),
        ],
    )
    holdout = forms.IntegerField(label=_("Held-out part"), min_value=5, max_value=50)
    test = forms.IntegerField(label=_("Kept for the last judgement"), min_value=5, max_value=50)
    group = forms.CharField(label=_("Keep together by"), max_length=200, required=False, strip=False)
    time = forms.CharField(label=_("In the order of"), max_length=200, required=False, strip=False)
    minutes = forms.IntegerField(label=_("Minutes to search"), min_value=1, max_value=MOST_MINUTES)
    learners = forms.MultipleChoiceField(
        label=_("Learners"),
        choices=Learner.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one learner.")},
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=LARGEST_SEED - 1)

    def offer_columns(self, names: list[str]) -> None:
        """As choices of the fields that name one."""
        for name, empty in (("group", _("nothing")), ("time", _("nothing"))):
            self.fields[name].widget = forms.Select(choices=[("", empty), *((each, each) for each in names)])

    def clean_left_out(self) -> tuple[str, ...]:
        return tuple(str(each) for each in self.cleaned_data["left_out"] or ())

    def wanted(self) -> NewSearch:
        """The service's request; the form must be valid."""
        data: dict[str, Any] = self.cleaned_data
        launch = {name: data[name] for name in ("name", "note", "tags", "key", "target", "left_out", "group", "time")}
        times = self._times()
        return NewSearch(
            **launch,
            image_id=data["version"],
            version_id=data["version"],
            package_id=data["package"],
            also_ids=tuple(data["also"]),
            preemptible=not data["uninterruptible"],
            cluster_id=data["cluster"],
            cap_fen=data["cap"],
            expected_s=times.expected_s,
            longest_s=times.longest_s,
            file=data["file"],
            task=Task(data["task"]),
            metric=Metric(data["metric"]),
            folds=data["folds"],
            holdout=data["holdout"] / 100,
            test=data["test"] / 100,
            minutes=data["minutes"],
            learners=tuple(Learner(each) for each in data["learners"]),
            seed=data["seed"],
        )
