"""One scheduling pass at a time, and none while hardware is being changed under it."""

from django.db import connection

LOCK = 0x504C_5343  # any constant that nothing else in this database uses


def try_to_schedule() -> bool:
    """Take the lock for this transaction, unless somebody holds it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])


def hold_scheduler() -> None:
    """Wait for the pass under way, and keep the next one out until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
