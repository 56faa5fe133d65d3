"""A process that is killed at a chosen point of what it does with money.

A point lies before and after each commit (of a transaction, or of a statement that writes and stands for itself) and
before and after each request to another machine, through whichever HTTP client. Between two of them a death is the same
as at the later one: nothing of it has left the process. Points are found by counting, not by marks in the code, so none
can be forgotten; they are named after the innermost function of the platform that has reached them.
"""

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any
from unittest.mock import patch

import urllib3
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

WRITES = ("INSERT", "UPDATE", "DELETE")
MOST_POINTS = 60


class Points:
    """Counts the points of this process and kills it at number `deadly`, after telling its name."""

    def __init__(self, deadly: int, tell: Callable[[str], None]) -> None:
        self.left = deadly
        self.tell = tell

    def reach(self, what: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.tell(f"{what} in {_where()}")
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        self.reach(f"before {what}")
        yield
        self.reach(f"after {what}")

    def statement(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        alone = not connection.in_atomic_block and sql.lstrip().upper().startswith(WRITES)
        if not alone:
            return execute(sql, params, many, context)
        with self.around("statement"):
            return execute(sql, params, many, context)

    @contextmanager
    def watched(self) -> Iterator[None]:
        commit = DatabaseWrapper._commit  # type: ignore[attr-defined]
        send = urllib3.HTTPConnectionPool.urlopen  # below `requests` as well

        def committed(wrapper: DatabaseWrapper) -> Any:
            with self.around("commit"):
                return commit(wrapper)

        def sent(pool: urllib3.HTTPConnectionPool, *args: Any, **options: Any) -> Any:
            with self.around("request"):
                return send(pool, *args, **options)

        with ExitStack() as stack:
            stack.enter_context(patch.object(DatabaseWrapper, "_commit", committed))
            stack.enter_context(patch.object(urllib3.HTTPConnectionPool, "urlopen", sent))
            stack.enter_context(connection.execute_wrapper(self.statement))
            yield


def run_and_kill(act: Callable[[], Any], deadly: int) -> str | None:
    """Do `act` in a process of its own, killed at its point number `deadly`; the point's name.

    None where it came to its end before: then there are fewer points. AssertionError where it failed by itself.
    """
    connection.close()  # a connection must not be shared with the child
    context = multiprocessing.get_context("fork")
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(act, deadly, tell))
    process.start()
    tell.close()
    words = _words(told)
    process.join(60)
    if process.exitcode == -signal.SIGKILL:
        assert words is not None
        return words
    assert process.exitcode == 0, words
    return None


def _child(act: Callable[[], Any], deadly: int, tell: Any) -> None:
    try:
        with Points(deadly, tell.send).watched():
            act()
    except BaseException:
        tell.send(traceback.format_exc())
        raise
    finally:
        connection.close()


def _words(told: Any) -> str | None:
    try:
        return str(told.recv())
    except EOFError:
        return None


def _where() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("apps."):
            return f"{module}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "?"


def deaths(act: Callable[[int], Callable[[], Any]], check: Callable[[int, str | None], None]) -> list[str]:
    """Kill at each point in turn. `act(number)` prepares a world and returns what to do in it; `check(number, point)`
    recovers and looks; the last time nobody dies and `point` is None. The points' names, in order."""
    names: list[str] = []
    for number in range(1, MOST_POINTS):
        name = run_and_kill(act(number), number)
        check(number, name)
        if name is None:
            return names
        names.append(name)
    raise AssertionError(f"more than {MOST_POINTS} points: {names}")
