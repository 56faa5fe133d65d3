"""The API of a replica's log."""

from apps.common.errors import NotFound
from apps.serving import selectors
from apps.serving.api.services import VIEW
from apps.serving.choices import DeploymentStatus
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Workload
from apps.workloads.replicas import selectors as sets


class ReplicaLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        """Of what serves, else of what gets ready. Raises `NotFound` for a replica that does not live."""
        service = selectors.get(self.actor, self.kwargs["service_id"])
        shown = selectors.of_status(service, DeploymentStatus.ACTIVE)
        shown = shown or selectors.of_status(service, DeploymentStatus.PREPARING)
        if shown is None:
            raise NotFound
        return sets.replica(shown.replica_set, self.kwargs["replica"]).workload


class ReplicaLog(ReplicaLogView, LogBytes):
    """The log as bytes."""


class ReplicaLogLines(ReplicaLogView, LogLines):
    """The log by lines."""


class ReplicaLogSearch(ReplicaLogView, LogSearch):
    """A text in the log."""
