"""The database's clock is the only one that decides: hosts may disagree, rows may not."""

from datetime import datetime

from django.db import connection


def db_now() -> datetime:
    """Wall clock of the database server (advances inside a transaction), aware, UTC."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
