from django.apps import AppConfig


class WorkloadsConfig(AppConfig):
    name = "apps.workloads"
    limited_tables = {"workloads_event": "SELECT, INSERT"}
