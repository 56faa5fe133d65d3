"""Every function of the database is what its .sql file says, and the last migration that loads it says which text."""

from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from apps.common.database_role import APP_ROLE
from apps.common.migration_operations import APPS, LoadSQL, version_of

FILES = sorted(APPS.glob("*/sql/*.sql"))
FUNCTIONS = """
SELECT proname, pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
"""
# Pretty: without the parentheses that a trigger's condition gains when a database is restored from a dump.
TRIGGERS = "SELECT tgname, pg_get_triggerdef(oid, true) FROM pg_trigger WHERE NOT tgisinternal"


def test_each_app_with_sql_files_is_installed() -> None:
    assert {path.parents[1] for path in FILES} <= {Path(config.path) for config in apps.get_app_configs()}


@pytest.mark.django_db
def test_functions_and_triggers_are_what_their_files_say() -> None:
    """Loading every file again changes nothing, and each of them defines a function."""
    before = _definitions()
    changed = {path.name: _definitions_after_loading(path) for path in FILES}
    assert changed == {path.name: before for path in FILES}


@pytest.mark.django_db
def test_each_function_has_one_file_named_after_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS)
        names = sorted(name for name, _definition in cursor.fetchall())
    assert names == sorted(_function(path) for path in FILES)
    for path in FILES:
        assert path.read_text().count("CREATE OR REPLACE FUNCTION") == 1
        assert f"CREATE OR REPLACE FUNCTION {_function(path)}()" in path.read_text()


def test_the_last_migration_that_loads_a_file_loads_its_present_text() -> None:
    """Otherwise installations that exist keep the former text: add a migration that loads it (see LoadSQL)."""
    loaded: dict[Path, str] = {}
    graph = MigrationLoader(None).graph
    for key in graph._generate_plan(graph.leaf_nodes(), at_end=True):
        for operation in graph.nodes[key].operations:
            if isinstance(operation, LoadSQL):
                loaded[operation.path] = operation.version
    assert loaded == {path: version_of(path) for path in FILES}


def _function(path: Path) -> str:
    """Of a file: the app's label and the file's name, but for what all apps share."""
    app = path.parents[1].name
    return f"{'plstack' if app == 'common' else app}_{path.stem}"


def _definitions() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(f"{FUNCTIONS} UNION ALL {TRIGGERS} ORDER BY 1, 2")
        return cursor.fetchall()


def _definitions_after_loading(path: Path) -> list[tuple[str, str]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
        cursor.execute(path.read_text())
        cursor.execute(f"SET LOCAL ROLE {APP_ROLE}")
        found = _definitions()
        transaction.set_rollback(True)
    return found
