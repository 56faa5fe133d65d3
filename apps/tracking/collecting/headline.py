"""The metrics that stand for a run: its loss, else whatever it says first, in lists; a few of them at its end."""

from collections.abc import Collection as Names
from collections.abc import Sequence
from typing import Any
from uuid import UUID

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


MOST_SERIES = 2_000


def headlines_of(run_id: UUID, most: int = 3) -> list[tuple[str, float]]:
    """Last values that say most of a run, in one statement: a loss, another result, and what follows in rank."""
    rows = Series.objects.filter(run_id=run_id, last_value__isnull=False).order_by("name")
    values = rows.values_list("name", "last_value")[:MOST_SERIES]
    known = {name: value for name, value in values if value is not None}
    return [(name, known[name]) for name in foremost(known, most)]


def foremost(names: Names[str], most: int) -> list[str]:
    """One loss and one other result stand before a second loss: accuracy is not crowded out by the losses."""
    ranked = sorted(names, key=rank_of)
    results = [name for name in ranked if is_result(name)]
    losses = [name for name in results if name.lower().endswith("loss")]
    others = [name for name in results if not name.lower().endswith("loss")]
    return list(dict.fromkeys([*losses[:1], *others[:1], *(results or ranked)]))[:most]
