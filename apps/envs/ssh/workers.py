"""Threads for what would make the front door's one event loop wait: the database and the disk."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

THREADS = 6
P = ParamSpec("P")
T = TypeVar("T")
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ssh")
# Whether people may stay must not wait for a disk that hangs under somebody's transfer.
_checking = ThreadPoolExecutor(1, thread_name_prefix="ssh-checks")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of `call`, made in a thread with a healthy database connection."""
    return await asyncio.get_running_loop().run_in_executor(_pool, _connected(partial(call, *args, **kwargs)))


async def in_checking_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same in a thread that does nothing else."""
    return await asyncio.get_running_loop().run_in_executor(_checking, _connected(partial(call, *args, **kwargs)))


def _connected(call: Callable[[], T]) -> Callable[[], T]:
    def run() -> T:
        close_old_connections()
        try:
            return call()
        finally:
            close_old_connections()

    return run


async def on_disk(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for what needs no database: an SFTP transfer makes thousands of these."""
    return await asyncio.get_running_loop().run_in_executor(_pool, lambda: call(*args, **kwargs))
