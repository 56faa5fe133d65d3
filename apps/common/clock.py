"""The database's clock is the only one that decides: hosts may disagree, rows may not."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from django.db import connection


@dataclass(slots=True)
class _Moment:
    """None until the clock has been read."""

    at: datetime | None = None


_moment: ContextVar[_Moment | None] = ContextVar("moment", default=None)


def db_now() -> datetime:
    """Wall clock of the database server (advances inside a transaction), aware, UTC.

    Inside `one_moment` it is read once.
    """
    moment = _moment.get()
    if moment is None:
        return _read()
    if moment.at is None:
        moment.at = _read()
    return moment.at


@contextmanager
def one_moment() -> Iterator[None]:
    """Everything in the block sees the same time: what is computed together agrees, and the clock is read once.

    For what only reads, and for decisions under a lock that is already held. Never around something that waits: the
    time would be that from before the wait. Inside another one it is part of that one.
    """
    if _moment.get() is not None:
        yield
        return
    token = _moment.set(_Moment())
    try:
        yield
    finally:
        _moment.reset(token)


def _read() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
