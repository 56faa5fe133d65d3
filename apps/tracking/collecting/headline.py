"""The one metric that lists show of a run: its loss, else whatever it says first."""

from collections.abc import Sequence
from typing import Any

from apps.tracking.collecting.models import Collection
from apps.tracking.collecting.reading.names import is_result
from apps.tracking.models import Series
from apps.tracking.points import Point

_FIRST = (
    "loss",
    "train/loss",
    "train_loss",
    "training_loss",
    "train/Loss",
    "Loss",
    "val_loss",
    "val/loss",
    "eval_loss",
)


def rank_of(name: str) -> tuple[int, str]:
    """Lower comes first."""
    if name in _FIRST:
        return _FIRST.index(name), name
    if name.lower().endswith("loss"):
        return len(_FIRST), name
    return len(_FIRST) + (1 if is_result(name) else 2), name


def headline_of(collection: Collection, points: Sequence[Point]) -> dict[str, Any]:
    """The columns that change with these points. A run that is logged to in other ways has its series asked."""
    latest = {point.name: point.value for point in points}
    if not latest and not collection.names:
        rows = Series.objects.filter(run_id=collection.pk, last_value__isnull=False).values_list("name", "last_value")
        latest = {name: value for name, value in rows[:200] if value is not None}
    known = [collection.headline_name] if collection.headline_name else []
    name = min([*latest, *known], key=rank_of, default="")
    if name not in latest:
        return {}
    return {"headline_name": name, "headline_value": latest[name]}
