"""From a node's row to the driver that runs work on it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from django.conf import settings

from apps.workloads.drivers.base import Driver
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.environment import EGRESS_SOCKET
from apps.workloads.drivers.local.mounting import egress_folder
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants


@cache
def local_driver() -> LocalDriver:
    """One per process: it holds no state but the folder's path."""
    return LocalDriver(Path(settings.PLSTACK_HOME))


@cache
def simulated_driver() -> SimulatedDriver:
    """Beside the local driver, whose runtimes and run directories it shares."""
    grants = Grants(Path(settings.PLSTACK_HOME) / "simulated")
    return SimulatedDriver(local_driver(), grants, settings.PLSTACK_SIMULATED_PROCESSES)


def driver_named(name: str) -> Driver:
    """The driver of a node's `driver` column or a handle's `driver` field; KeyError for an unknown one."""
    return _DRIVERS[name]()


_DRIVERS: dict[str, Callable[[], Driver]] = {"local": local_driver, "simulated": simulated_driver}


def data_root() -> Path:
    """Where the platform keeps people's files; mounts name folders below it."""
    return Path(settings.PLSTACK_HOME) / "data"


def egress_socket() -> Path:
    """Where the proxy that leads workloads out (`Spec.egress`) has to listen, open to every user id (0666).

    Sandboxes see its folder and nothing else of the platform's, so nothing else may ever lie in it.
    """
    return egress_folder(Path(settings.PLSTACK_HOME)) / EGRESS_SOCKET
