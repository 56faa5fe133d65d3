"""Limits on what an organisation, a department or a person may hold at once, and what holds it."""

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.choices import HolderKind, Resource
from apps.tenants.models.organisations import Department, Organisation
from apps.tenants.models.people import User


class Quota(TenantModel):
    """What one level holds of one resource, and its limit (None: unlimited). `model`: of this accelerator model only.

    `used` is what live work holds, changed only under the row's lock. Rows exist for every level that ever
    submitted, limited or not, so a limit set later starts from the true use.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="quotas")
    department = models.ForeignKey(Department, on_delete=models.CASCADE, null=True, related_name="quotas")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="quotas")
    resource = models.CharField(max_length=24, choices=Resource)
    model = models.CharField(max_length=60, blank=True, default="")
    limit = models.BigIntegerField(null=True)
    used = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "department", "user", "resource", "model"],
                name="quota_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(condition=models.Q(limit__gte=0), name="quota_limit_not_negative"),
            models.CheckConstraint(condition=models.Q(used__gte=0), name="quota_used_not_negative"),
            models.CheckConstraint(
                condition=models.Q(department__isnull=True) | models.Q(user__isnull=True), name="quota_one_level"
            ),
        ]


class Holding(TenantModel):
    """What one object takes of one resource, and where that is counted. Written with `Quota.used`, in one transaction.

    The sum of the holdings under a level is what the level's `Quota.used` says. `department` is where it counts now:
    it follows the person, and is None for people without one.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    department = models.ForeignKey(Department, on_delete=models.PROTECT, null=True, related_name="holdings")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    holder_kind = models.CharField(max_length=16, choices=HolderKind)
    holder_id = models.UUIDField()
    resource = models.CharField(max_length=24, choices=Resource)
    model = models.CharField(max_length=60, blank=True, default="")
    amount = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["holder_kind", "holder_id", "resource", "model"], name="holding_once"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="holding_positive"),
        ]
        indexes = [
            models.Index(fields=["organisation", "resource", "model", "-amount"], name="holding_largest"),
            models.Index(fields=["organisation", "user"], name="holding_of_person"),
        ]
