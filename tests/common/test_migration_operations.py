"""Functions in .sql files are loaded by migrations; a loaded file can be loaded again."""

from pathlib import Path

import pytest
from django.db import connection, migrations
from django.db.migrations.state import ProjectState
from django.db.migrations.writer import OperationWriter

from apps.common import migration_operations
from apps.common.database_role import APP_ROLE
from apps.common.migration_operations import LoadSQL, append_only, version_of

ANSWER = "CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS $$ SELECT {} $$;"


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A function's file in the app `lab`."""
    monkeypatch.setattr(migration_operations, "APPS", tmp_path)
    path = tmp_path / "lab" / "sql" / "answer.sql"
    path.parent.mkdir(parents=True)
    path.write_text(ANSWER.format(41))
    return path


def apply(operation: migrations.RunSQL, *, backwards: bool = False) -> None:
    with connection.schema_editor() as editor:
        editor.execute("SET LOCAL ROLE NONE")
        run = operation.database_backwards if backwards else operation.database_forwards
        run("lab", editor, ProjectState(), ProjectState())
        editor.execute(f"SET LOCAL ROLE {APP_ROLE}")


def ask(statement: str = "SELECT answer()") -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])


@pytest.mark.django_db
def test_a_file_is_loaded_and_loaded_again_after_a_change(answer: Path) -> None:
    apply(LoadSQL("lab", "answer", version_of(answer)))
    assert ask() == 41
    answer.write_text(ANSWER.format("42 -- 100 % sure\n"))
    apply(LoadSQL("lab", "answer", version_of(answer)))
    assert ask() == 42


@pytest.mark.django_db
def test_going_back_leaves_the_function(answer: Path) -> None:
    operation = LoadSQL("lab", "answer", version_of(answer))
    apply(operation)
    apply(operation, backwards=True)
    assert operation.reversible
    assert ask() == 41


def test_the_version_is_of_the_text(answer: Path) -> None:
    former = version_of(answer)
    assert (len(former), version_of(answer)) == (8, former)
    answer.write_text(ANSWER.format(42))
    assert version_of(answer) != former


def test_a_missing_file_fails_when_the_migration_is_read(answer: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LoadSQL("lab", "question", "00000000")


def test_the_operation_can_be_written_to_a_migration(answer: Path) -> None:
    operation = LoadSQL("lab", "answer", "0a1b2c3d")
    _name, arguments, options = operation.deconstruct()
    assert (arguments, options) == (["lab", "answer", "0a1b2c3d"], {})
    assert operation.describe() == "Load lab/sql/answer.sql"
    written, imports = OperationWriter(operation, indentation=0).serialize()
    assert "LoadSQL(" in written
    assert imports == {"import apps.common.migration_operations"}


@pytest.mark.django_db
@pytest.mark.parametrize("statement", ["UPDATE lab SET n = 2", "DELETE FROM lab", "TRUNCATE lab"])
def test_rows_of_an_append_only_table_are_added_and_nothing_else(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
        cursor.execute("CREATE TEMP TABLE lab (n int); INSERT INTO lab VALUES (1)")
        apply(append_only("lab"))
        cursor.execute("SET LOCAL ROLE NONE")
        with pytest.raises(Exception, match="rows are append-only"):
            cursor.execute(statement)
