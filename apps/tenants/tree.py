"""Departments as a tree: ancestors, subtrees, and paths as text. Reads only; ids come from scoped rows."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

_UP = """
WITH RECURSIVE up(id, parent_id, height) AS (
    SELECT id, parent_id, 0 FROM tenants_department WHERE id = %s
    UNION ALL
    SELECT parent.id, parent.parent_id, up.height + 1 FROM tenants_department parent JOIN up ON parent.id = up.parent_id
)
SELECT id FROM up ORDER BY height
"""

_DOWN = """
WITH RECURSIVE down(id) AS (
    SELECT id FROM tenants_department WHERE id = %s
    UNION ALL
    SELECT child.id FROM tenants_department child JOIN down ON child.parent_id = down.id
)
SELECT id FROM down
"""

_PATHS = """
WITH RECURSIVE up(start, parent_id, names) AS (
    SELECT id, parent_id, ARRAY[name]::text[] FROM tenants_department WHERE id = ANY(%s)
    UNION ALL
    SELECT up.start, parent.parent_id, ARRAY[parent.name]::text[] || up.names
    FROM tenants_department parent JOIN up ON parent.id = up.parent_id
)
SELECT start, names FROM up WHERE parent_id IS NULL
"""

SEPARATOR = " / "


def ancestors(department_id: UUID | None) -> list[UUID]:
    """The department itself, then its parents up to the root; empty for None."""
    return [] if department_id is None else _ids(_UP, department_id)


def subtree(department_id: UUID) -> list[UUID]:
    """The department and everything below it, in no order."""
    return _ids(_DOWN, department_id)


def _ids(query: str, department_id: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(query, [department_id])
        return [row[0] for row in cursor.fetchall()]


def paths(department_ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """`Research / Vision / Detection` for each id, in one query."""
    wanted = list({each for each in department_ids if each is not None})
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_PATHS, [wanted])
        return {start: SEPARATOR.join(names) for start, names in cursor.fetchall()}
