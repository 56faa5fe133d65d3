"""What the queue keeps: estimated starts and how they turned out, each organisation's recent use, pre-emptions."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy


class StartEstimate(TenantModel):
    """When one stay in the queue was first said to end, and when it did. Scored once, at the start."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.CASCADE, related_name="start_estimates")
    # Which stay: the number of attempts before it.
    after_attempt = models.PositiveSmallIntegerField(default=0)
    cause = models.CharField(max_length=24)
    made_at = models.DateTimeField(db_default=Now())
    start_p50 = models.DateTimeField()
    start_p90 = models.DateTimeField()
    started_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["-started_at"], name="estimate_scored", condition=models.Q(started_at__isnull=False))
        ]
        constraints = [
            models.UniqueConstraint(fields=["workload", "after_attempt"], name="one_estimate_per_stay"),
            models.CheckConstraint(
                condition=models.Q(start_p90__gte=models.F("start_p50")), name="estimate_p90_not_before_p50"
            ),
        ]


class RecentUse(TenantModel):
    """What an organisation held times the seconds it did, halved every seven days; brought up to `at`.

    In milli-cards, milli-cores and MiB; apart for simulated hardware.
    """

    organisation = models.OneToOneField(Organisation, on_delete=models.CASCADE, primary_key=True, related_name="+")
    simulated_gpu_milli_s = models.FloatField(default=0)
    gpu_milli_s = models.FloatField(default=0)
    simulated_cpu_milli_s = models.FloatField(default=0)
    cpu_milli_s = models.FloatField(default=0)
    simulated_memory_mib_s = models.FloatField(default=0)
    memory_mib_s = models.FloatField(default=0)
    at = models.DateTimeField(db_default=Now())


class Preemption(TenantModel):
    """One attempt that was asked to give way. Its organisation is the victim's; the other one is never shown to it."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    attempt = models.OneToOneField("workloads.Attempt", on_delete=models.CASCADE, related_name="preemption")
    # The workload that it makes room for. No key: it may be another tenant's.
    for_workload_id = models.UUIDField()
    why = models.CharField(max_length=16, choices=PreemptionWhy)
    asked_at = models.DateTimeField(db_default=Now())
    # When it is told to end (SIGTERM), and when it is ended (SIGKILL) if it still saves then.
    leave_at = models.DateTimeField()
    kill_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=PreemptionOutcome, default=PreemptionOutcome.ASKED)
    ended_at = models.DateTimeField(null=True)
    # Work since the last checkpoint, which is not charged.
    lost_s = models.FloatField(null=True)
    credited_fen = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        indexes = [
            models.Index(fields=["-asked_at"], name="preemption_newest"),
            models.Index(fields=["leave_at"], name="preemption_open", condition=models.Q(ended_at__isnull=True)),
            models.Index(
                fields=["id"],
                name="preemption_uncredited",
                condition=models.Q(outcome=PreemptionOutcome.REQUEUED, lost_s__isnull=True),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kill_at__gte=models.F("leave_at"), leave_at__gte=models.F("asked_at")),
                name="preemption_in_order",
            ),
        ]
