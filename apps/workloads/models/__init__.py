"""Everything that runs, the queue that it waits in, and the gateway through which it is reached."""

from apps.workloads.models.attempts import Attempt, Member, Observed, Placement
from apps.workloads.models.gateway import Activity, EntryCode, GatewaySession, SharedPort
from apps.workloads.models.queueing import Preemption, RecentUse, StartEstimate
from apps.workloads.models.replicas import ReplicaSet
from apps.workloads.models.time_limits import RunTimeLimit
from apps.workloads.models.workloads import Event, SchedulerEpoch, Workload

__all__ = [
    "Activity",
    "Attempt",
    "EntryCode",
    "Event",
    "GatewaySession",
    "Member",
    "Observed",
    "Placement",
    "Preemption",
    "RecentUse",
    "ReplicaSet",
    "RunTimeLimit",
    "SchedulerEpoch",
    "SharedPort",
    "StartEstimate",
    "Workload",
]
