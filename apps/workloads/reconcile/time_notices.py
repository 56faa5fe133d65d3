"""The program's own notice before its longest run time is over, where it finds one of giving way too."""

import logging
from datetime import datetime, timedelta

from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Driver, DriverError, Handle
from apps.workloads.drivers.capabilities import Notice, NoticeMixin
from apps.workloads.longest import saving_time
from apps.workloads.models import Preemption, Workload

log = logging.getLogger(__name__)

# For so long after the moment that it was told of, a notice of a deadline that has moved is taken back at every look.
TAKE_BACK = timedelta(minutes=1)


def deliver_time_notice(
    driver: Driver, handle: Handle, workload: Workload, known: Preemption | None, now: datetime
) -> None:
    """Nothing before its owner is told, nor where it gives way anyway. A node that cannot say it is no obstacle."""
    told_of = workload.deadline_told_at
    if told_of is None or known is not None or workload.status != Status.RUNNING or not isinstance(driver, NoticeMixin):
        return
    if workload.deadline_at != told_of and now > told_of + TAKE_BACK:
        return
    try:
        driver.tell(handle, _notice(told_of, now) if workload.deadline_at == told_of else None)
    except DriverError as error:
        log.info("workload %s could not be told of its deadline: %s", workload.pk, error)


def _notice(deadline: datetime, now: datetime) -> Notice:
    return Notice(Reason.LONGEST.value, max(0.0, (deadline - now).total_seconds()), saving_time().total_seconds())
