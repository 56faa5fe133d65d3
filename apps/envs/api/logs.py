"""The API of an environment's log: what its services print, since it was started last."""

from apps.common.errors import NotFound
from apps.envs import selectors
from apps.envs.api.environments import VIEW
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Workload


class EnvironmentLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        """Raises `NotFound` for one that has never been started."""
        workload = selectors.get(self.actor, self.kwargs["environment_id"]).workload
        if workload is None:
            raise NotFound
        return workload


class EnvironmentLog(EnvironmentLogView, LogBytes):
    """The log as bytes."""


class EnvironmentLogLines(EnvironmentLogView, LogLines):
    """The log by lines."""


class EnvironmentLogSearch(EnvironmentLogView, LogSearch):
    """A text in the log."""
