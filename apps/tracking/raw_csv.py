"""All points of a run as CSV, one line each: metric, step, time, value."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.spreadsheets import BOM, csv_line
from apps.tracking import selectors, stored
from apps.tracking.models import Series
from apps.tracking.points import MICROSECONDS

MOST_LINES = 500_000
HEAD = ("metric", "step", "time", "value")


def lines(actor: Actor, workload_id: UUID) -> Iterator[str]:
    """Series by series. Raises `NotFound` at once, and `Conflict` for more than a file of this kind should have."""
    selectors.visible(actor, [workload_id])
    rows = list(Series.objects.filter(run_id=workload_id).order_by("name").values_list("pk", "name", "count"))
    if sum(count for _pk, _name, count in rows) > MOST_LINES:
        raise Conflict(
            _("This run has more than %(most)s points, which is too much for one file.") % {"most": MOST_LINES},
            hint=_("The API gives them page by page."),
        )
    return _lines(workload_id, [(pk, name) for pk, name, _count in rows])


def _lines(workload_id: UUID, rows: list[tuple[int, str]]) -> Iterator[str]:
    yield BOM + csv_line(HEAD)
    for pk, name in rows:
        for piece in stored.read([workload_id], [pk]):
            columns = (piece.points.steps.tolist(), piece.points.moments.tolist(), piece.points.values.tolist())
            for step, moment, value in zip(*columns, strict=True):
                at = datetime.fromtimestamp(moment / MICROSECONDS, UTC).isoformat(timespec="milliseconds")
                yield csv_line([name, step, at, value])
