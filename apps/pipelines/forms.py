"""The forms of pipelines. They only translate: every rule stands in `graph` and in the services."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import key_value_rows
from apps.common.money_fields import YuanField
from apps.pipelines.choices import LONGEST_NAME
from apps.pipelines.graph.steps import Graph
from apps.pipelines.models import Pipeline, PipelineVersion
from apps.pipelines.rows import StepRow, put_errors, rows_for, rows_of
from apps.pipelines.services import PipelineDraft
from apps.storage import datasets
from apps.workloads.offers.cap_quote import yuan_text

OFFERED_DATASETS = 200


class PipelineForm(forms.Form):
    """Steps and parameters are rows beside the fields: `rows`, `parameter_rows`."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput)
    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the pipeline a name.")}
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False)
    budget = YuanField(label=_("Budget of one run"), required=False, max_length=20)
    dataset = forms.TypedChoiceField(
        label=_("Start with each new version of"), required=False, empty_value=None, choices=[]
    )
    # Carries what is wrong with the table of parameters.
    parameters = forms.CharField(required=False)

    def __init__(
        self,
        actor: Actor,
        data: QueryDict | None = None,
        *,
        rows: list[StepRow] | None = None,
        parameter_rows: list[tuple[str, str]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data, **kwargs)
        self.rows = rows_of(data) if data is not None else rows or []
        typed = key_value_rows(data, "parameters") if data is not None else parameter_rows or []
        self.parameter_rows = [(name.strip(), value) for name, value in typed if name.strip() or value.strip()]
        offered: Any = self.fields["dataset"]
        found = datasets.visible(actor)[:OFFERED_DATASETS]
        offered.choices = [("", _("None")), *((str(each.pk), each.name) for each in found)]

    def clean(self) -> dict[str, Any]:
        super().clean()
        names = [name for name, _value in self.parameter_rows]
        if len(set(names)) < len(names):
            self.add_error("parameters", _("Two parameters have the same name."))
        return self.cleaned_data

    def draft(self) -> PipelineDraft:
        """The service's request; the form must be valid. Rows that cannot be read have their errors after it."""
        data = self.cleaned_data
        return PipelineDraft(
            name=data["name"],
            note=data["note"],
            graph=Graph(steps=tuple(row.step() for row in self.rows), parameters=dict(self.parameter_rows)),
            budget_fen=data["budget"],
            dataset_id=data["dataset"],
        )

    @property
    def has_row_errors(self) -> bool:
        return any(row.errors for row in self.rows)

    def show(self, error: DomainError) -> None:
        """Put each part of a refusal beside the field or the row that it is about."""
        rest, placed = put_errors(self.rows, error.fields), self.has_row_errors
        for name, text in rest.items():
            field = name.partition(".")[0]
            self.add_error(field if field in self.fields else None, str(text))
            placed = True
        if not placed:
            self.add_error(None, error.sentences)


def initial_of(pipeline: Pipeline, version: PipelineVersion) -> dict[str, Any]:
    return {
        "name": pipeline.name,
        "note": pipeline.note,
        "budget": yuan_text(version.budget_fen),
        "dataset": str(pipeline.dataset_id) if pipeline.dataset_id else "",
    }


def rows_like(graph: Graph) -> dict[str, Any]:
    """The rows that say this graph, as the form takes them."""
    return {"rows": rows_for(graph.steps), "parameter_rows": list(graph.parameters.items())}


class StartForm(forms.Form):
    """A field for each parameter, with the pipeline's own value."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, parameters: Mapping[str, str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in parameters.items():
            self.fields[f"parameters.{name}"] = forms.CharField(
                label=name, required=False, initial=value, max_length=4000, strip=False
            )

    def values(self) -> dict[str, str]:
        """The form must be valid."""
        prefix = "parameters."
        return {
            name.removeprefix(prefix): value for name, value in self.cleaned_data.items() if name.startswith(prefix)
        }
