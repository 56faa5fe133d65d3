"""Skip a step if its inputs hash to the key that was written when it last succeeded."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def hash_text(*parts: str) -> str:
    """Hash of some strings, order significant."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def hash_files(paths: Iterable[Path], *extra: str) -> str:
    """Hash of the names and contents of files and, recursively, of folders; missing ones are skipped."""
    digest = hashlib.sha256(hash_text(*extra).encode())
    for path in sorted(_walk(paths)):
        digest.update(path.name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _walk(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from (p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        elif path.is_file():
            yield path


def is_current(marker: Path, key: str) -> bool:
    """Whether the step behind `marker` last succeeded with this key."""
    try:
        return marker.read_text() == key
    except OSError:
        return False


def write(marker: Path, key: str) -> None:
    """Record that the step succeeded with this key."""
    marker.parent.mkdir(parents=True, exist_ok=True)
    temporary = marker.with_name(marker.name + ".new")
    temporary.write_text(key)
    temporary.replace(marker)


def drop(marker: Path) -> None:
    """Forget that the step succeeded (before doing it again)."""
    marker.unlink(missing_ok=True)
