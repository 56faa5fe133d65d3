"""Versions of a price as a list shows them: gone by, in force, planned."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from apps.common.clock import db_now


class Version(Protocol):
    effective_from: datetime
    effective_to: datetime | None


V = TypeVar("V", bound=Version)


def dated(versions: Iterable[V]) -> list[V]:
    """The same, each with `state`: past, now or planned."""
    now = db_now()
    found = list(versions)
    for version in found:
        ended = version.effective_to is not None and version.effective_to <= now
        version.state = "past" if ended else "planned" if version.effective_from > now else "now"  # type: ignore[attr-defined]
    return found


def planned_of(versions: Sequence[V]) -> V | None:
    """The one that is to come, of versions from `dated`."""
    return next((version for version in versions if version.state == "planned"), None)  # type: ignore[attr-defined]
