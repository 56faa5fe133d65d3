"""Passwords and keys made at first start and kept readable by the owner only."""

import os
import secrets
from pathlib import Path


def get_or_create(folder: Path, name: str) -> str:
    """The secret of that name (64 hexadecimal digits), made with O_EXCL and mode 0600 when it is missing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        temporary = folder / f".{name}.{os.getpid()}"
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        # link() fails on an existing name, so of two starts at once only one decides the secret.
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return path.read_text().strip()
