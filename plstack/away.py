"""Whether a failure means that the database or Redis is away for a while, and what its log line is then."""

import logging
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from redis import RedisError

# Also a server without room, one that shuts down and a lost race for a lock: the same request may succeed soon.
AWAY = (OperationalError, InterfaceError)


def is_away(error: BaseException | None) -> bool:
    """Whether it is such an error, or was raised while such an error was dealt with."""
    return any(isinstance(one, AWAY) for one in _chain(error))


def is_redis_away(error: BaseException | None) -> bool:
    return any(isinstance(one, RedisError) for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


class OneLine(logging.Filter):
    """A log filter: a request that failed for want of the database is one line, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if is_away(error):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.msg, record.args = f"{record.getMessage()}: {str(error).partition(chr(10))[0]}", ()
            record.exc_info = record.exc_text = None
        return True
