"""Several queries that see the database at one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Read what was committed before the first query inside, and nothing that is committed between two of them.

    Sums that are compared need it: money that moves in between would look like a difference. Nothing can be written
    inside. In a transaction that has begun before, the queries see what that one sees.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
