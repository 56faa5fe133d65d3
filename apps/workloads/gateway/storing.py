"""The database behind the asynchronous gateway: a few threads that read and write for it, and its loops."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.db import close_old_connections
from django_scopes import scopes_disabled

from apps.workloads import activity
from apps.workloads.gateway import passes
from apps.workloads.gateway.admissions import Admission, Key
from apps.workloads.gateway.hosts import Address
from apps.workloads.gateway.targets import locate

log = logging.getLogger(__name__)

WRITE_EVERY_S = 3.0
TIDY_EVERY_S = 300.0
P = ParamSpec("P")
T = TypeVar("T")
# A database that hangs must not take every thread of the process.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="gateway-database")


async def ask(key: Key) -> Admission | None:
    """Who stands behind the cookie, and where their port is; None for nobody who may enter."""
    return await in_thread(_ask, key)


async def exchange(code: str, address: Address) -> str | None:
    return await in_thread(passes.exchange, code, address)


async def record_forever(recorder: activity.Recorder) -> None:
    """Write what was noticed, every few seconds; nothing is lost while the database is away."""
    while True:
        await asyncio.sleep(WRITE_EVERY_S)
        await _write(recorder)


async def tidy_forever() -> None:
    while True:
        await asyncio.sleep(TIDY_EVERY_S)
        try:
            await in_thread(_tidy)
        except Exception:
            log.warning("old rows stay for now", exc_info=True)


async def finish(recorder: activity.Recorder) -> None:
    """A last word at an orderly end: nothing is open any more."""
    await _write(recorder)


async def _write(recorder: activity.Recorder) -> None:
    noticed = recorder.take(time.monotonic())
    try:
        await in_thread(_write_rows, recorder, noticed)
    except Exception:
        recorder.give_back(noticed)
        log.warning("activity is written later", exc_info=True)


def _ask(key: Key) -> Admission | None:
    visitor = passes.admit(key.digest, key.address)
    return None if visitor is None else Admission(key, visitor, locate(visitor))


def _write_rows(recorder: activity.Recorder, noticed: dict[UUID, activity.Seen]) -> None:
    with scopes_disabled():
        activity.write_activity(recorder.source, recorder.process, noticed)


def _tidy() -> None:
    passes.forget_expired()
    with scopes_disabled():
        activity.forget_old()


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call it in one of the few threads that ask the database."""

    def run() -> T:
        close_old_connections()
        try:
            return call(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_threads, run)
