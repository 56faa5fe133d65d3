"""The database role that the processes use. It can do less than the owner of the tables, who only migrates."""

from collections.abc import Iterator

from django.apps import apps
from django.db import connection
from psycopg2 import sql

APP_ROLE = "plstack_app"


def limited_tables() -> dict[str, str]:
    """Tables with fewer rights than SELECT, INSERT, UPDATE, DELETE, as each app's config declares them."""
    limited: dict[str, str] = {}
    for config in apps.get_app_configs():
        limited.update(getattr(config, "limited_tables", {}))
    return limited


def grant_app_role(role: str = APP_ROLE) -> None:
    """Create `role` if needed and grant it exactly its rights. Run as the owner after each migration."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
        if cursor.fetchone() is None:
            cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
        for statement in _statements(role):
            cursor.execute(statement)


def _statements(role: str) -> Iterator[sql.Composed]:
    name = sql.Identifier(role)
    yield sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name)
    yield sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}").format(name)
    yield sql.SQL("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}").format(name)
    for table, rights in limited_tables().items():
        yield sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.Identifier(table), name)
        yield sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), sql.Identifier(table), name)
