"""A Postgres of one's own for a benchmark: the platform's embedded server with its settings, as durable as that."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.management import call_command
from django.db import connection

from apps.common.database_role import grant_app_role
from plstack.launch import postgres as embedded
from plstack.launch.layout import Layout
from plstack.launch.postgres import APP, OWNER, SUPERUSER, Postgres


@dataclass(frozen=True, slots=True)
class Server:
    """A running cluster with the platform's database in it."""

    postgres: Postgres

    def run(self, program: str, *arguments: str, database: str = embedded.DATABASE, role: str = SUPERUSER) -> str:
        """Output of one of Postgres' own programs against `database`."""
        address = urlsplit(self.postgres.url(role))
        host = dict(parse_qsl(address.query))["host"]
        env = {**os.environ, "PGHOST": host, "PGUSER": role, "PGPASSWORD": unquote(address.password or "")}
        argv = [str(self.postgres.programs / "bin" / program), *arguments, database]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def connect(self, role: str = APP) -> None:
        """From now on this process' connections are the role's: the application's, as the platform's processes have."""
        address = urlsplit(self.postgres.url(role))
        connection.close()
        connection.settings_dict.update(
            NAME=embedded.DATABASE,
            USER=role,
            PASSWORD=unquote(address.password or ""),
            HOST=dict(parse_qsl(address.query))["host"],
            PORT="",
        )


@contextmanager
def own_server(folder: Path | None = None, **changes: str) -> Iterator[Server]:
    """A fresh cluster in a temporary folder, migrated, gone with the block. `changes`: settings other than the
    platform's."""
    home = Path(tempfile.mkdtemp(prefix="plstack-bench-", dir=folder))
    home.chmod(0o755)  # the server's account has to pass through
    layout = replace(Layout.from_environ(), home=home)
    layout.logs.mkdir()
    postgres, kept = Postgres.from_layout(layout), dict(embedded.SETTINGS)
    embedded.SETTINGS.update(changes)
    try:
        postgres.prepare()
        postgres.start()
        postgres.await_ready()
        server = Server(postgres)
        _migrated(server)
        yield server
    finally:
        connection.close()
        postgres.stop()
        embedded.SETTINGS.update(kept)
        shutil.rmtree(home, ignore_errors=True)


def _migrated(server: Server) -> None:
    server.connect(OWNER)
    call_command("migrate", verbosity=0)
    grant_app_role()
    server.connect()


def settings_of(*names: str) -> dict[str, Any]:
    """The server's own word for these settings."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", [list(names)])
        return dict(cursor.fetchall())
