"""Work of the event loop that belongs to no connection: it goes on when the one that began it has ended.

`sync_to_async` runs a call in the threads of the connection whose task asks for it, and refuses once that has ended.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from django.db import close_old_connections

T = TypeVar("T")


class BackgroundThread:
    """Runs calls one after the other, with one connection to the database, in a thread that starts with the first."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, copy_context().run, _with_usable_connection, function, *args)


def _with_usable_connection(function: Callable[..., T], *args: Any) -> T:
    close_old_connections()
    return function(*args)
