"""Pictures of the same name in the outputs of compared runs, such as a confusion matrix of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.common.errors import DomainError
from apps.common.files import is_picture
from apps.storage.safe_open import walk
from apps.storage.services import root_of
from apps.training.models import Run

MOST_ENTRIES = 2000
"""Of one output that are looked at, in the order of the disk."""
MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class PictureRow:
    """`urls`: for each run, in their order; empty where it has none of this name."""

    path: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    """`complete`: False where an output holds more than was looked at, or more names are alike than are shown."""

    rows: tuple[PictureRow, ...]
    complete: bool


def pictures(chosen: Sequence[Run]) -> Pictures:
    """Those that at least two of these visible runs have, what most of them have first."""
    found = [_pictures_of(run) for run in chosen]
    counted: dict[str, int] = {}
    for paths, _all in found:
        for path in paths:
            counted[path] = counted.get(path, 0) + 1
    shared = sorted((path for path, count in counted.items() if count > 1), key=lambda path: (-counted[path], path))
    rows = [
        PictureRow(
            path, tuple(_url(run, path) if path in has else "" for run, (has, _all) in zip(chosen, found, strict=True))
        )
        for path in shared[:MOST_ROWS]
    ]
    return Pictures(tuple(rows), len(shared) <= MOST_ROWS and all(is_all for _paths, is_all in found))


def _pictures_of(run: Run) -> tuple[set[str], bool]:
    paths: set[str] = set()
    try:
        for count, entry in enumerate(walk(root_of(run.output))):
            if count >= MOST_ENTRIES:
                return paths, False
            if entry.is_file and entry.name.isprintable() and is_picture(entry.name):
                paths.add("/".join((*entry.names, entry.name)))
    except (DomainError, OSError):  # nothing written yet, or too deep
        return paths, not paths
    return paths, True


def _url(run: Run, path: str) -> str:
    return f"{reverse('training:output', args=[run.pk])}?{urlencode({'path': path, 'show': 1})}"
