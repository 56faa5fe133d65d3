"""Only the database's clock decides: the clocks of hosts may disagree, rows must not."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from django.db import connection
from django.db.models import DateTimeField, Func
from django_scopes import get_scope

P = ParamSpec("P")
Found = TypeVar("Found")


@dataclass(slots=True)
class _Moment:
    """`at`: None until the clock has been read. `found`: what `once_a_moment` has read."""

    at: datetime | None = None
    found: dict[Hashable, object] = field(default_factory=dict)


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


class ClockTimestamp(Func):
    """The database's wall clock as part of a statement."""

    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()


def db_now_within() -> datetime | ClockTimestamp:
    """`db_now` for the condition of a statement that is sent anyway, which saves asking for the time before it."""
    return ClockTimestamp() if _moment.get() is None else db_now()


@contextmanager
def one_moment() -> Iterator[None]:
    """`db_now` returns the same time throughout the block: related results agree, and the clock is read once.

    Use it for reads, and for decisions under a lock that is already held. Never put it around something that waits: the
    time would be from before the wait. A nested block shares the outer block's time.
    """
    if _moment.get() is not None:
        yield
        return
    token = _moment.set(_Moment())
    try:
        yield
    finally:
        _moment.reset(token)


def once_a_moment(read: Callable[P, Found]) -> Callable[P, Found]:
    """Inside `one_moment`, `read` asks the database once for the same arguments in the same scope; outside, always.

    For what several parts of one page say. What is written inside the block is not seen by what was read before it.
    """

    @wraps(read)
    def asked(*args: P.args, **kwargs: P.kwargs) -> Found:
        moment = _moment.get()
        if moment is None:
            return read(*args, **kwargs)
        key = (read, args, tuple(sorted(kwargs.items())), tuple(sorted(get_scope().items())))
        if key not in moment.found:
            moment.found[key] = read(*args, **kwargs)
        return cast(Found, moment.found[key])

    return asked


def _read() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
