"""What a new search is asked for, and whether it can be searched: every rule beside the field that it is about."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.common.formatting import file_size, memory
from apps.storage.choosing import DATASETS
from apps.storage.column_types import of_cells
from apps.storage.models import DatasetVersion
from apps.storage.parquet import is_parquet
from apps.tabular.choices import METRICS, Learner, Metric, Task
from apps.tabular.preview import NUMBERS, Preview, known
from apps.workloads.launching.request import Launch

LEAST_ROWS = 20
MOST_MINUTES, LARGEST_SEED = 24 * 60, 2**31
MOST_FOLDS = 10
MIB = 1 << 20
# How much memory a table takes for each byte of its file: as a frame, with copies of the parts that are learned from.
IN_MEMORY, IN_MEMORY_PARQUET = 4, 12
Fields = dict[str, str | Promise]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSearch(Launch):
    """`folds` 0: one part of the share `holdout` is held out instead. `test`: the share that no trial sees.

    `group`: rows of one value stay together; `time`: earlier rows foretell later ones; "" for neither.
    """

    version_id: UUID
    file: str
    target: str
    task: Task
    metric: Metric
    left_out: tuple[str, ...] = ()
    folds: int = 5
    holdout: float = 0.2
    test: float = 0.2
    group: str = ""
    time: str = ""
    minutes: int = 10
    learners: tuple[Learner, ...] = tuple(Learner)
    seed: int = 0

    def told(self) -> dict[str, Any]:
        """What the program reads, but for the file's place and the processors."""
        return {
            "target": self.target,
            "task": self.task.value,
            "metric": self.metric.value,
            "left_out": sorted(self.left_out),
            "folds": self.folds,
            "holdout": self.holdout,
            "test": self.test,
            "group": self.group,
            "time": self.time,
            "minutes": self.minutes,
            "learners": [each.value for each in self.learners],
            "seed": self.seed,
        }


def place_of(version: DatasetVersion, path: str) -> str:
    """Where the program finds the file."""
    return f"{DATASETS}{version.dataset.name}/{path}"


def check(wanted: NewSearch, preview: Preview, memory_mib: int) -> None:
    """Raises `Invalid` with every field at fault."""
    size = _size_fields(wanted, preview, memory_mib)
    fields = {
        **size,
        **({} if "file" in size else _target_fields(wanted, preview)),  # a few rows say little of their values
        **_column_fields(wanted, preview),
        **_number_fields(wanted),
    }
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)


def _size_fields(wanted: NewSearch, preview: Preview, memory_mib: int) -> Fields:
    if preview.rows is not None and preview.rows < LEAST_ROWS:
        text = _("The table has %(rows)s rows; a search needs at least %(least)s.")
        return {"file": text % {"rows": preview.rows, "least": LEAST_ROWS}}
    needed = -(-preview.size * (IN_MEMORY_PARQUET if is_parquet(wanted.file) else IN_MEMORY) // MIB)
    if needed > memory_mib:
        words = {"size": file_size(preview.size), "memory": memory(needed)}
        text = _("The file of %(size)s is read into memory whole: choose a package with %(memory)s or more.")
        return {"package": text % words}
    return {}


def _target_fields(wanted: NewSearch, preview: Preview) -> Fields:
    column = preview.column(wanted.target)
    if column is None:
        return {"target": _("Choose the column to predict.")}
    if wanted.metric not in METRICS[wanted.task]:
        return {"metric": _("This metric is not one of the task's.")}
    is_read = preview.is_whole and column.distinct is not None
    if is_read and column.distinct == 0:
        return {"target": _("No row has a value in this column.")}
    if is_read and column.distinct == 1:
        return {"target": _("This column has the same value in each row; there is nothing to predict.")}
    if wanted.task is Task.REGRESSION and not column.is_number and (is_read or column.distinct is None):
        numbers = [each for each in known(preview.cells_of(wanted.target)) if of_cells([each]) in NUMBERS]
        if 2 * len(numbers) < len(known(preview.cells_of(wanted.target))) or not preview.cells:
            return {"task": _("This column holds no numbers: only its classes can be told apart.")}
    if is_read and wanted.task is Task.CLASSIFICATION and 2 * (column.distinct or 0) > preview.rows_read:
        text = _("This column has %(count)s different values; choose regression, or another column.")
        return {"task": text % {"count": column.distinct}}
    return {}


def _column_fields(wanted: NewSearch, preview: Preview) -> Fields:
    found: Fields = {}
    for name in ("group", "time"):
        column = getattr(wanted, name)
        if column and (preview.column(column) is None or column == wanted.target):
            found[name] = _("Choose another column of the table than the target.")
    if wanted.group and wanted.time:
        found.setdefault("time", _("Choose groups or time: not both."))
    if any(preview.column(each) is None for each in wanted.left_out):
        found["left_out"] = _("The table has no such column.")
    rest = {each.name for each in preview.columns} - {*wanted.left_out, wanted.target, wanted.group, wanted.time}
    if not rest:
        found["left_out"] = _("Leave at least one column to learn from.")
    return found


def _number_fields(wanted: NewSearch) -> Fields:
    found: Fields = {}
    between = _("From %(least)s to %(most)s.")
    if wanted.folds and not 2 <= wanted.folds <= MOST_FOLDS:
        found["folds"] = between % {"least": 2, "most": MOST_FOLDS}
    for name in ("holdout", "test"):
        if not 0.05 <= getattr(wanted, name) <= 0.5:
            found[name] = between % {"least": "5%", "most": "50%"}
    if not 1 <= wanted.minutes <= MOST_MINUTES:
        found["minutes"] = between % {"least": 1, "most": MOST_MINUTES}
    if not 0 <= wanted.seed < LARGEST_SEED:
        found["seed"] = between % {"least": 0, "most": LARGEST_SEED - 1}
    if not wanted.learners:
        found["learners"] = _("Choose at least one learner.")
    return found
