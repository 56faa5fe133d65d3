"""What every driver promises to the kernel. A driver's test module subclasses `DriverContract` and provides a `kit`."""

from tests.drivers.contract_access import AccessContract
from tests.drivers.contract_copies import CopiesContract
from tests.drivers.contract_disk import DiskContract
from tests.drivers.contract_exec import ExecContract
from tests.drivers.contract_folders import FoldersContract
from tests.drivers.contract_gangs import GangContract
from tests.drivers.contract_ports import PortsContract
from tests.drivers.contract_running import RunningContract
from tests.drivers.contract_secrets import SecretsContract
from tests.drivers.contract_yielding import YieldingContract


class DriverContract(
    RunningContract,
    AccessContract,
    ExecContract,
    PortsContract,
    YieldingContract,
    DiskContract,
    GangContract,
    SecretsContract,
    CopiesContract,
    FoldersContract,
):
    """All of it."""
