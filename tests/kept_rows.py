"""Rows of lists that are kept (`apps.common.kept`): whatever a row shows, its change is seen."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import models

from apps.common import kept

# Only some values of these can be drawn.
CLOSED = {"kind", "spec", "reason", "reason_data", "explanation"}


def fresh(draw: Callable[[], str]) -> str:
    """As it is when nothing is kept."""
    before = dict(kept._kept)
    kept.forget()
    html = draw()
    kept._kept.update(before)
    return html


def every_change_is_seen(rows: Sequence[models.Model], draw: Callable[[], str]) -> int:
    """Change each value of each row, and of the rows read with it, and back; how many were tried.

    Raises AssertionError where a kept row is not what would be drawn.
    """
    tried = 0
    assert draw() == fresh(draw)
    for record in [each for row in rows for each in _loaded(row, set())]:
        for field in record._meta.concrete_fields:
            before = vars(record).get(field.attname)
            unset = isinstance(field, models.DateTimeField) and before is None
            changed = datetime(2026, 1, 2, tzinfo=UTC) if unset else _other(before)
            if changed is None or field.choices or field.attname in CLOSED:
                continue
            vars(record)[field.attname] = changed
            assert draw() == fresh(draw), f"{record._meta.label}.{field.name}"
            vars(record)[field.attname] = before
            tried += 1
    return tried


def _other(value: Any) -> Any:
    """Another value of the kind, or None where nobody can think of one."""
    match value:
        case bool():
            return not value
        case int() | float() | Decimal():
            return value + 1
        case str():
            return f"{value}x"
        case UUID():
            return uuid4()
        case datetime():
            return value - timedelta(days=3)
        case timedelta():
            return value + timedelta(hours=1)
        case list():
            return [*value, "more"]
        case dict():
            return {**value, "more": 1}
    return None


def _loaded(row: models.Model, met: set[int]) -> Iterator[models.Model]:
    met.add(id(row))
    yield row
    for related in row._state.fields_cache.values():
        if isinstance(related, models.Model) and id(related) not in met:
            yield from _loaded(related, met)
