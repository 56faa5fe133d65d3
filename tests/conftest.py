"""Every suite runs on real Postgres, as the limited role that production uses."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections

import plstack.celery  # noqa: F401  the current Celery application, as in every process of the platform
from apps.common.database_role import APP_ROLE, grant_app_role
from tests import searching, template

searching.register_profiles()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kill points are known by the names of their files."""
    for item in items:
        if item.path.name.startswith("test_kill"):
            item.add_marker(pytest.mark.kills)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_keepdb: bool, django_db_createdb: bool, django_db_blocker: Any
) -> None:
    """Each process's database begins as a copy of one that was migrated once."""
    with django_db_blocker.unblock():
        template.prepare(keep=django_db_keepdb and not django_db_createdb)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
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


def _let_the_owner_flush() -> None:
    """Tests that commit are cleaned by TRUNCATE, which append-only tables refuse to everyone in normal operation."""
    flush = connection.ops.sql_flush

    def sql_flush(*args: Any, **kwargs: Any) -> list[str]:
        statements = flush(*args, **kwargs)
        if not statements:
            return []
        return [
            "RESET ROLE",
            "SET ROLE NONE",
            "SET session_replication_role = replica",
            *statements,
            "SET session_replication_role = origin",
            f"SET ROLE {APP_ROLE}",
        ]

    connection.ops.sql_flush = sql_flush
