"""Blobs of pushes in progress, which a collection leaves alone (`plstack.launch.collecting` reads this).

A push first asks which layers are there, brings the others, and says only at the end, by its manifest, which image they
belong to. Until then nothing in the registry points to them. So each digest about which a pushing client asks, or that
it brings, is noted before the registry answers: an empty file, whose time says when.
"""

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

FOLDER = "registry-pushes"
MOVING = "moving"
"""The file whose time says when bytes last went through."""
COLLECTING = ".collecting"
"""After the socket's name: the file that is there while the registry is away for a collection."""
EVERY_S = 2.0
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})", re.ASCII)


def folder() -> Path:
    return Path(settings.PLSTACK_HOME) / FOLDER


def note(digest: str) -> None:
    found = _DIGEST.fullmatch(digest)
    if found is not None:
        _touch(found[1])


def is_collecting() -> bool:
    return os.path.exists(f"{settings.REGISTRY_SOCKET}{COLLECTING}")


@dataclass(slots=True)
class Movement:
    """Says that bytes go through this process, so that no collection cuts them off."""

    noted_at: float = 0.0

    def note(self) -> None:
        now = time.monotonic()
        if now - self.noted_at >= EVERY_S:
            self.noted_at = now
            with suppress(OSError):  # it is only for the collection's good manners
                _touch(MOVING)


def _touch(name: str) -> None:
    path = folder() / name
    try:
        path.touch(mode=0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
