"""The list of boards: columns and filter."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.boards.models import Board
from apps.common.cells import Cell
from apps.common.permissions import Permission
from apps.common.tables import FULL, column
from apps.workloads.single_workload.tables import WorkFilter, WorkTable, submitted_column


class BoardTable(WorkTable):
    room = "boards"
    caption = "TensorBoard"
    name = Cell(
        template_name="boards/cells/name.html",
        verbose_name=_("Runs"),
        order_by=("workload__name", "-created_at"),
        attrs=column(width=FULL),
    )
    created_at = submitted_column(_("Opened"))

    class Meta(WorkTable.Meta):
        model = Board


class BoardFilter(WorkFilter):
    sees_all = Permission.TRAINING_MANAGE_ALL
    searched = "shown__label"

    class Meta:
        model = Board
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return super().search(rows, name, value).distinct()
