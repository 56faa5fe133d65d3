"""Periodic work of the files process: measure trees, empty bins and trash, find orphaned contents."""

from collections.abc import Callable, Iterator
from functools import partial
from uuid import UUID, uuid5

from django.conf import settings
from django.utils.module_loading import import_string

from apps.common.actor import system_actor
from apps.storage import datasets, digests, disk, housekeeping, listings, usage, volumes
from apps.storage.runner import Chore
from apps.storage.turns import Piece

_NOBODY = UUID(int=0)


def _measuring() -> Iterator[Piece]:
    """One piece per organisation: a tree of ten million files delays only trees of its own organisation."""
    for organisation_id in usage.due_organisations():
        yield Piece(organisation_id, organisation_id, organisation_id)


def _measure(organisation_id: UUID) -> None:
    usage.measure_due(organisation_id)


def _digesting() -> Iterator[Piece]:
    for folder_id, organisation_id in digests.due_folders():
        yield Piece(folder_id, organisation_id, organisation_id)


def _listing() -> Iterator[Piece]:
    for version_id, organisation_id in listings.due_listings():
        yield Piece(version_id, organisation_id, organisation_id)


def _clean(_piece: UUID) -> None:
    actor = system_actor()
    volumes.purge_due(actor)
    datasets.purge_due(actor)
    for path in settings.STORAGE_PURGES:
        import_string(path)(actor)
    housekeeping.sweep()


def _empty_trash(_piece: UUID) -> None:
    disk.empty_trash()


def _adopt(_piece: UUID) -> None:
    housekeeping.adopt()


def _always(name: str) -> list[Piece]:
    return [Piece(uuid5(_NOBODY, name), _NOBODY, _NOBODY)]


def _trash_is_full(name: str) -> list[Piece]:
    return _always(name) if any(disk.trash().iterdir()) else []


def _chore(name: str, every_s: float, deadline_s: float, run: Callable[[UUID], None]) -> Chore:
    due = _trash_is_full if name == "trash" else _always
    return Chore(name, every_s, deadline_s, partial(due, name), run, slots=1)


CHORES: tuple[Chore, ...] = (
    Chore("measure", 5, usage.PATIENCE_S + usage.SLICE_S + 60, _measuring, _measure, slots=4),
    Chore("digest", 10, digests.DEADLINE_S, _digesting, digests.compute, slots=1, killed=digests.give_up),
    Chore("listing", 60, 1800, _listing, listings.add_listing, slots=1),
    _chore("clean", 300, 1800, _clean),
    _chore("trash", 60, 1800, _empty_trash),
    _chore("adopt", 86400, 6 * 3600, _adopt),
)
