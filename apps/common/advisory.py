"""Locks of Postgres by name, for what one process at a time is to do; each ends with its transaction."""

from django.db import connection


def try_lock(name: str) -> bool:
    """Take it until this transaction ends, unless somebody holds it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        return bool(cursor.fetchone()[0])
