"""Wait in an event loop for descriptors, such as those of an `ExecStream`."""

import asyncio
from collections.abc import Callable
from typing import Any


async def readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    await _ready(descriptor, loop.add_reader, loop.remove_reader)


async def writable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    await _ready(descriptor, loop.add_writer, loop.remove_writer)


async def cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancel and wait until they have ended, however they do."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ready(descriptor: int, add: Callable[..., Any], remove: Callable[[int], Any]) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ready() -> None:
        if not future.done():
            future.set_result(None)

    add(descriptor, ready)
    try:
        await future
    finally:
        remove(descriptor)
