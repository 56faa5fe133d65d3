"""Scans by digest, what the worker knows of its scanner, and what organisations decide about what was found."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.repositories import MAX_DIGEST
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, ScannerProblem, ScanProblem, Severity
from apps.tenants.models import Organisation, User
from apps.workloads.references import MAX_REPOSITORY

MAX_DETAIL = 300
MAX_ID, MAX_PACKAGE = 80, 200


class ImageScan(models.Model):
    """What is known of one digest, whoever has the image; who may see the image may see this.

    `wanted_at`: since when a scan is asked for; None: none is. `reference` says where the image is fetched from. Until
    a first scan succeeds, `scanned_at` is None; one that fails later leaves what was found and says its `problem`.
    """

    digest = models.CharField(max_length=MAX_DIGEST, unique=True)
    reference = models.CharField(max_length=MAX_REPOSITORY + 72)
    created_at = models.DateTimeField(db_default=Now())
    wanted_at = models.DateTimeField(null=True)
    # Whoever scans it has it until then; a scan whose process died is taken up again after that.
    claimed_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    problem = models.CharField(max_length=20, choices=ScanProblem, blank=True, default="")
    problem_detail = models.CharField(max_length=MAX_DETAIL, blank=True, default="")
    failed_at = models.DateTimeField(null=True)
    scanned_at = models.DateTimeField(null=True)
    scanner = models.CharField(max_length=60, blank=True, default="")
    database_built_at = models.DateTimeField(null=True)
    # {severity: [how many, how many of them with a fix]}; all of them, also where `findings` holds only the worst.
    counts = models.JSONField(default=dict)
    # [id, package, version, fixed in, severity, type], the worst first: as `report.packed` writes them.
    findings = models.JSONField(default=list)

    class Meta:
        indexes = [
            models.Index(fields=["wanted_at"], condition=models.Q(wanted_at__isnull=False), name="image_scan_wanted")
        ]

    def __str__(self) -> str:
        return self.digest


class Scanner(models.Model):
    """The scanner as the worker last saw it: one row. `built_at`: of its vulnerability database."""

    key = models.CharField(max_length=10, primary_key=True, default="grype")
    version = models.CharField(max_length=40, blank=True, default="")
    built_at = models.DateTimeField(null=True)
    schema = models.CharField(max_length=20, blank=True, default="")
    problem = models.CharField(max_length=20, choices=ScannerProblem, blank=True, default="")
    problem_detail = models.CharField(max_length=MAX_DETAIL, blank=True, default="")
    seen_at = models.DateTimeField(db_default=Now())
    # Of the last try to bring the database from the mirror; "" where it succeeded.
    update_problem = models.CharField(max_length=MAX_DETAIL, blank=True, default="")
    updated_at = models.DateTimeField(null=True)


class ScanPolicy(TenantModel):
    """What an organisation asks of the images that it starts; none: nothing beyond the operator's."""

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=10, choices=PolicyAction, default=PolicyAction.OFF)
    severity = models.CharField(
        max_length=12, choices=[(each.value, each.label) for each in THRESHOLDS], default=Severity.CRITICAL
    )
    only_fixable = models.BooleanField(default=False)
    block_unscanned = models.BooleanField(default=False)
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    set_at = models.DateTimeField(db_default=Now())


class ScanException(models.Model):
    """A finding that a policy overlooks, in `package` or, empty, in any, to the end of the day `until`.

    `organisation` None: the operator's, which counts for all and for the operator's own policy too.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    finding = models.CharField(max_length=MAX_ID)
    package = models.CharField(max_length=MAX_PACKAGE, blank=True, default="")
    reason = models.CharField(max_length=300)
    until = models.DateField()
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="scan_exception_newest")]
        constraints = [
            models.CheckConstraint(condition=~models.Q(finding=""), name="scan_exception_names_a_finding"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="scan_exception_has_a_reason"),
        ]

    def __str__(self) -> str:
        return self.finding
