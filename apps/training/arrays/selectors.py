"""Read arrays that the actor may see, and how far they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.training.choices import KIND
from apps.training.models import ArrayLine, Run, RunArray
from apps.workloads.choices import Status
from apps.workloads.permissions import seen_rows


@dataclass(frozen=True, slots=True)
class LineState:
    """A line and the last try at it; `tries`: how many there were."""

    row: ArrayLine
    run: Run | None
    tries: int

    @property
    def failed(self) -> bool:
        """Also where no run could be started."""
        if self.row.due:
            return False
        return bool(self.row.refused) or (self.run is not None and self.run.workload.status == Status.FAILED)


@dataclass(frozen=True, slots=True)
class Progress:
    """Lines by where they stand; together they are all lines."""

    total: int
    waiting: int
    queued: int
    running: int
    succeeded: int
    failed: int
    stopped: int

    @property
    def done(self) -> int:
        return self.succeeded + self.failed + self.stopped

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0

    @property
    def is_open(self) -> bool:
        return self.done < self.total


def arrays(actor: Actor) -> QuerySet[RunArray]:
    """As the actor sees the runs in them, newest first."""
    rows: QuerySet[RunArray] = RunArray.objects.select_related("owner")
    return seen_rows(actor, KIND, rows).order_by("-created_at", "-pk")


def get(actor: Actor, array_id: UUID) -> RunArray:
    """One visible array; `NotFound` otherwise."""
    array = arrays(actor).filter(pk=array_id).first()
    if array is None:
        raise NotFound
    return array


def first_run(array: RunArray) -> Run | None:
    """What the array began with, and its other lines are made of; None once it is deleted."""
    rows = Run.objects.filter(array_line__array=array, deleted_at__isnull=True, array_line__number=1)
    found: Run | None = rows.select_related("workload", "image").order_by("version").first()
    return found


def lines(array: RunArray) -> list[LineState]:
    """All lines by number. A run that was deleted is not shown, but it was a try."""
    rows = list(ArrayLine.objects.filter(array=array).order_by("number"))
    tried: dict[int, list[Run]] = {row.pk: [] for row in rows}
    runs = Run.objects.filter(array_line__array=array).select_related("workload").order_by("version", "pk")
    for run in runs:
        tried[run.array_line_id or 0].append(run)
    return [LineState(row, _last(tried[row.pk]), len(tried[row.pk])) for row in rows]


def _last(runs: Sequence[Run]) -> Run | None:
    return runs[-1] if runs and runs[-1].deleted_at is None else None


def progress_of(found: Sequence[LineState]) -> Progress:
    counts = Counter(_place(line) for line in found)
    names = ("waiting", "queued", "running", "succeeded", "failed", "stopped")
    return Progress(len(found), *(counts[name] for name in names))


def _place(line: LineState) -> str:
    if line.row.due:
        return "waiting"
    if line.failed:
        return "failed"
    if line.run is None:
        return "stopped"
    status = line.run.workload.status
    if status in (Status.SUCCEEDED, Status.STOPPED, Status.QUEUED):
        return str(Status(status).value)
    return "running"
