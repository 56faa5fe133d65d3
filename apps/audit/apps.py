from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "apps.audit"
    limited_tables = {"audit_entry": "SELECT, INSERT"}
