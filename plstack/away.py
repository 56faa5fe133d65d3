"""Recognise failures that mean that the database or Redis is away, and shorten their log lines."""

import logging
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from redis import RedisError

# Includes a server without connection slots, one that shuts down and a lost race for a lock: a retry may succeed soon.
AWAY = (OperationalError, InterfaceError)


def is_away(error: BaseException | None) -> bool:
    """Whether it is such an error, or was raised while such an error was handled."""
    return any(isinstance(one, AWAY) for one in _chain(error))


def is_redis_away(error: BaseException | None) -> bool:
    return any(isinstance(one, RedisError) for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


class OutageFilter(logging.Filter):
    """A log filter: a request that failed because the database is away logs one line, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if is_away(error):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.msg, record.args = f"{record.getMessage()}: {str(error).partition(chr(10))[0]}", ()
            record.exc_info = record.exc_text = None
        return True
