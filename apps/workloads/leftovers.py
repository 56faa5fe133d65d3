"""What machines keep of work that has ended: its logs and the records of its programs."""

from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.capabilities import CleanupMixin
from apps.workloads.models import Attempt, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.programs import Program, programs_of


def remove_leftovers(workload: Workload) -> bool:
    """Remove what there is of its attempts; False where a machine could not be asked, or has not ended it yet.

    A machine that was removed from the platform takes what it kept along.
    """
    attempts = Attempt.objects.filter(workload=workload).select_related("node", "workload")
    # Each is asked, whatever another one says.
    gone = [_is_gone(program) for attempt in attempts for program in programs_of(attempt)]
    return all(gone)


def _is_gone(program: Program) -> bool:
    if program.handle is None or program.node.removed_at is not None:
        return True
    driver = driver_named(program.handle["driver"])
    if not isinstance(driver, CleanupMixin):
        return True
    try:
        driver.forget(Handle.from_dict(program.handle))
    except DriverError:
        return False
    return True
