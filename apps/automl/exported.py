"""Experiments as a file."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.automl.selectors import experiments
from apps.automl.tables import ExperimentFilter
from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell


def _cells(row: Any) -> list[Cell]:
    return [
        row.name,
        row.owner.display_name,
        f"{row.template.name} v{row.template.version}",
        row.get_status_display(),
        ", ".join(each["metric"] for each in row.objectives),
        row.algorithm,
        row.trial_count,
        row.most_trials,
        row.failed_count,
        row.note,
        row.created_at,
        row.ended_at,
        str(row.pk),
    ]


EXPERIMENTS = ExportedList(
    name="experiments",
    label=_("Tuning experiments"),
    permission=P.TRAINING_VIEW,
    whole=P.TRAINING_MANAGE_ALL,
    platform=False,
    rows=lambda actor, asked: experiments(actor),
    filters=ExperimentFilter,
    order=("-created_at", "-pk"),
    columns=(
        Column(_("Name"), width=28),
        Column(_("Owner"), width=20),
        Column(_("Training run"), width=28),
        Column(_("State")),
        Column(_("Metric"), width=22),
        Column(_("Algorithm")),
        Column(_("Trials"), CellFormat.WHOLE, 8),
        Column(_("Trials in all"), CellFormat.WHOLE, 8),
        Column(_("Failed"), CellFormat.WHOLE, 8),
        Column(_("Note"), width=30),
        Column(_("Started"), CellFormat.MOMENT, 20),
        Column(_("Ended"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_cells,
)
