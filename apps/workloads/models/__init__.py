"""Everything that runs, the queue that it waits in, and the gateway through which it is reached."""

from apps.workloads.models.gateway import Activity, EntryCode, GatewaySession
from apps.workloads.models.queueing import Preemption, RecentUse, StartEstimate
from apps.workloads.models.workloads import Attempt, Event, Placement, SchedulerEpoch, Workload

__all__ = [
    "Activity",
    "Attempt",
    "EntryCode",
    "Event",
    "GatewaySession",
    "Placement",
    "Preemption",
    "RecentUse",
    "SchedulerEpoch",
    "StartEstimate",
    "Workload",
]
