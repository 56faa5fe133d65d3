"""Migration operations beyond Django's: functions kept in .sql files, and tables whose rows may only be added."""

import hashlib
from pathlib import Path

from django.db import migrations

APPS = Path(__file__).resolve().parents[1]


class LoadSQL(migrations.RunSQL):
    """Load `apps/<app>/sql/<name>.sql`: one function as it is now, with its triggers, written so that it can be loaded
    again (`CREATE OR REPLACE`).

    To change a function, edit its file and add a migration that loads it again, with the file's new `version`: a fresh
    database gets the function from the first migration that names it, one that exists already from the new one. Without
    that migration the new text would never reach installations that exist, so `tests/architecture/test_sql_files.py`
    compares the version that was loaded last with the file. Earlier migrations keep their lines as they are. Like any
    function, the text may name only what its triggers need of the tables as they are at the first load.

    To drop a function, delete its file and the lines that loaded it, and add a migration that drops it.
    Going back to an earlier migration leaves the function as it is.
    """

    def __init__(self, app: str, name: str, version: str) -> None:
        self.app, self.name, self.version = app, name, version
        self.path = sql_file(app, name)
        super().__init__(self.path.read_text(), migrations.RunSQL.noop)

    def deconstruct(self) -> tuple[str, list[str], dict[str, str]]:
        return self.__class__.__qualname__, [self.app, self.name, self.version], {}

    def describe(self) -> str:
        return f"Load {self.app}/sql/{self.name}.sql"


def sql_file(app: str, name: str) -> Path:
    return APPS / app / "sql" / f"{name}.sql"


def version_of(path: Path) -> str:
    """What a migration calls the present text of a .sql file: the first 8 digits of its `sha256sum`."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def append_only(table: str) -> migrations.RunSQL:
    """Refuse UPDATE, DELETE and TRUNCATE on `table` for every role. The app's migration depends on common's first."""
    return migrations.RunSQL(
        f"""
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION plstack_append_only();
        CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
        """,
        f"DROP TRIGGER {table}_append_only ON {table}; DROP TRIGGER {table}_no_truncate ON {table};",
    )
