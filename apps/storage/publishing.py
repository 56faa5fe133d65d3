"""The platform's own files that programs inside find: copied below the data root, where mounts come from."""

import hashlib
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

from apps.storage.disk import data_root

KINDS = frozenset({".py", ".sh", ".json"})


def publish(source: Path, name: str) -> Path:
    """The folder with the files of `source`, made where it is not there yet; each version of them has its own."""
    files = sorted(path for path in source.rglob("*") if path.is_file() and path.suffix in KINDS)
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    target = data_root() / f".{name}-{digest.hexdigest()[:16]}"
    if not target.is_dir():
        _copy(source, files, target, f".{name}-")
    return target


def _copy(source: Path, files: list[Path], target: Path, prefix: str) -> None:
    """Whole or not at all: another process may do the same at this moment."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(mkdtemp(prefix=prefix, dir=target.parent))
    for path in files:
        copy = made / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for folder in (made, *(each for each in made.rglob("*") if each.is_dir())):
        folder.chmod(0o755)
    try:
        os.rename(made, target)
    except OSError:  # somebody else was faster
        shutil.rmtree(made, ignore_errors=True)
