"""Lines of JSON objects (JSONL, NDJSON) as a table: a column for each name, in the order in which they come."""

import json
from dataclasses import dataclass
from typing import Any

from apps.storage.column_types import ColumnType, of_values


@dataclass(frozen=True, slots=True)
class Table:
    """`rows`: as long as `head`; what is not there is empty. `types`: of the columns."""

    head: list[str]
    rows: list[list[str]]
    types: list[ColumnType]


def read(text: str, most: int) -> Table | None:
    """The first `most` of them; None where a line is no object."""
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        if len(found) == most:
            break
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                return None
            if not isinstance(value, dict):
                return None
            found.append(value)
    head = list(dict.fromkeys(name for each in found for name in each))
    rows = [[_shown(each.get(name)) for name in head] for each in found]
    return Table(head, rows, [of_values(each.get(name) for each in found) for name in head])


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
