"""What every driver promises to the kernel. A driver's test module subclasses `DriverContract` and provides a `kit`."""

from tests.drivers.contract_access import AccessContract
from tests.drivers.contract_running import RunningContract


class DriverContract(RunningContract, AccessContract):
    """All of it."""
