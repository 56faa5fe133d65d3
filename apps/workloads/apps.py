from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import import_string


class WorkloadsConfig(AppConfig):
    name = "apps.workloads"
    limited_tables = {"workloads_event": "SELECT, INSERT"}

    def ready(self) -> None:
        """Collect the kinds of work: what is wrong with one stops the process before it serves anybody."""
        # By name, because rules know models, which are there from now on.
        collect = import_string("apps.workloads.kinds.collect")
        collect(settings.WORKLOAD_KINDS)
