"""Threads for what would make the front door's one event loop wait: the database and the disk."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

THREADS = 6
P = ParamSpec("P")
T = TypeVar("T")
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ssh")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of `call`, made in a thread with a healthy database connection."""

    def run() -> T:
        close_old_connections()
        try:
            return call(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, run)


async def on_disk(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for what needs no database: an SFTP transfer makes thousands of these."""
    return await asyncio.get_running_loop().run_in_executor(_pool, lambda: call(*args, **kwargs))
