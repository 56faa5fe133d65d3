"""Every suite runs on real Postgres, as the limited role that production uses."""

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management.commands import flush
from django.db import connection, connections
from django.utils import translation

import plstack.celery  # noqa: F401  the current Celery application, as in every process of the platform
from apps.common.database_role import APP_ROLE, grant_app_role
from apps.workloads.drivers.local import shim
from apps.workloads.drivers.local.records import RunDirectory
from plstack.launch.testing import PROCESSES
from tests import searching, template

MIGRATED = {"django_content_type", "auth_permission"}
DIRTY = pytest.StashKey[bool]()
ROOT = Path(__file__).parents[1]
STARTED: list[str] = []

searching.register_profiles()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kill points are known by the names of their files, much of what starts programs by its folder."""
    for item in items:
        if item.path.name.startswith("test_kill"):
            item.add_marker(pytest.mark.kills)
        if any(item.path.is_relative_to(ROOT / folder) for folder in PROCESSES):
            item.add_marker(pytest.mark.programs)


def pytest_configure() -> None:
    """Take note of each program that is started in a sandbox."""
    start = shim.start

    def noted(run: RunDirectory, secrets: Sequence[str] = ()) -> None:
        STARTED.append(run.path.name)
        start(run, secrets)

    shim.start = noted


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not walk them, and the rest not so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """A test that is not cleaned up after may leave rows in the database, which then is not taken again.

    What a request of it has left as this thread's language is forgotten. The quick suite waits for no program: a test
    that has started one says so by its mark.
    """
    translation.deactivate()
    try:
        yield
    except Exception:
        item.config.stash[DIRTY] = True
        raise
    started = len(STARTED)
    STARTED.clear()
    if started and not any(map(item.get_closest_marker, ("programs", "browser", "chaos", "kills"))):
        pytest.fail(f"{item.nodeid} starts a program: mark it @pytest.mark.programs")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_keepdb: bool, django_db_createdb: bool, django_db_blocker: Any
) -> None:
    """Each process's database begins as a copy of one that was migrated once."""
    with django_db_blocker.unblock():
        template.prepare(keep=django_db_keepdb and not django_db_createdb)


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_keepdb: bool, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    """After the owner has migrated, every connection continues as the application's role."""
    with django_db_blocker.unblock():
        grant_app_role()
        _let_the_owner_flush()
        for alias in connections:
            connections[alias].close()
            connections[alias].settings_dict["OPTIONS"]["options"] = f"-c role={APP_ROLE}"
        yield
        for alias in connections:
            connections[alias].close()
            del connections[alias].settings_dict["OPTIONS"]["options"]
        if django_db_keepdb and not request.config.stash.get(DIRTY, False):
            template.leave_clean()
            connection.close()


def _let_the_owner_flush() -> None:
    """Tests that commit are cleaned as the owner, whom alone the triggers of append-only tables let pass.

    Django's TRUNCATE makes new files for each of the hundreds of tables and indexes; most hold no row to delete. The
    lock is the same: what another connection has begun ends first. What migrating wrote stays, so that nothing has to
    follow a flush: looking for each content type and permission again takes ten times as long as the rest of it.
    """

    def sql_flush(_style: Any, tables: list[str], **_options: Any) -> list[str]:
        names = [connection.ops.quote_name(table) for table in sorted(set(tables) - MIGRATED)]
        return [
            *("RESET ROLE", "SET ROLE NONE", "SET session_replication_role = replica"),
            f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE",
            "; ".join(f"DELETE FROM {name}" for name in names),
            *("SET session_replication_role = origin", f"SET ROLE {APP_ROLE}"),
        ]

    connection.ops.sql_flush = sql_flush  # type: ignore[assignment, method-assign]
    flush.emit_post_migrate_signal = lambda *_arguments, **_options: None  # type: ignore[attr-defined]
