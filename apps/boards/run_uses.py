"""Boards that show a run and have not ended: it is not deleted meanwhile. One of `settings.RUN_USES`."""

from django.urls import reverse

from apps.boards.models import BoardRun
from apps.training.deletion import Use
from apps.training.models import Run
from apps.workloads.choices import LIVE


def open_boards(run: Run) -> list[Use]:
    rows = BoardRun.objects.filter(run=run, board__workload__status__in=sorted(LIVE)).select_related("board__owner")
    return [Use("TensorBoard", row.board.owner.display_name, reverse("boards:list")) for row in rows.order_by("pk")]
