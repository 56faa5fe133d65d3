"""From a node's row to the driver that runs work on it."""

from functools import cache
from pathlib import Path

from django.conf import settings

from apps.workloads.drivers.base import Driver
from apps.workloads.drivers.local.driver import LocalDriver


@cache
def local_driver() -> LocalDriver:
    """One per process: it holds no state but the folder's path."""
    return LocalDriver(Path(settings.PLSTACK_HOME))


def driver_named(name: str) -> Driver:
    """The driver of a node's `driver` column or a handle's `driver` field; KeyError for an unknown one."""
    return {"local": local_driver}[name]()


def data_root() -> Path:
    """Where the platform keeps people's files; mounts name folders below it."""
    return Path(settings.PLSTACK_HOME) / "data"
