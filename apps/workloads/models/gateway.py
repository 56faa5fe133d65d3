"""What the gateway keeps: single-use codes, its own sessions, and who uses what when. Tokens only as SHA-256."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User
from apps.workloads.choices import Source


class _Pass(TenantModel):
    """One person's way to one port of one workload, bound to the portal's session that it came from."""

    digest = models.CharField(primary_key=True, max_length=64)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    port = models.CharField(max_length=24)
    portal_session = models.CharField(max_length=40)
    portal = models.CharField(max_length=300)  # the origin that the person came from, for the way back
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()

    class Meta:
        abstract = True


class EntryCode(_Pass):
    """Carried once from the portal to the workload's host; deleted by its exchange."""

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="entry_code_expiry")]


class GatewaySession(_Pass):
    """Behind the cookie on the workload's host; lives while it is used."""

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="gateway_session_expiry")]


class SharedPort(TenantModel):
    """A port of running work that everybody of its organisation may open, until the row or the work ends."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.CASCADE, related_name="+")
    port = models.CharField(max_length=24)
    shared_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workload", "port"], name="shared_port_once")]


class Activity(TenantModel):
    """One process's view of a workload's use. Its `connections` count only while its heartbeat is fresh."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.CASCADE, related_name="activity")
    source = models.CharField(max_length=8, choices=Source)
    process = models.CharField(max_length=64)
    connections = models.PositiveIntegerField(default=0)
    last_request_at = models.DateTimeField(null=True)
    last_input_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workload", "source", "process"], name="activity_once_per_process"),
        ]
        indexes = [models.Index(fields=["heartbeat_at"], name="activity_heartbeat")]
