"""What an organisation means to spend in a month, and the alerts that it has been sent."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.choices import BudgetScope
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST
from apps.tenants.models import Department, Organisation, User


class Budget(TenantModel):
    """An amount for each billing month. It warns and stops nothing; what stops is a spending cap or the wallet.

    Exactly the reference that its scope needs is set. `resource` is an accelerator model as packages name it, or
    "cpu" for everything that runs without one; `tag` counts runs that had it when their metering began. `thresholds`
    are percents, ascending.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=12, choices=BudgetScope)
    department = models.ForeignKey(Department, on_delete=models.CASCADE, null=True, related_name="+")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    resource = models.CharField(max_length=80, blank=True)
    tag = models.CharField(max_length=LONGEST, blank=True, default="", db_default="")
    limit_fen = models.BigIntegerField()
    thresholds = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "name"], name="budget_name_once"),
            models.CheckConstraint(condition=Q(limit_fen__gt=0), name="budget_positive"),
            models.CheckConstraint(
                condition=Q(scope=BudgetScope.ORGANISATION, department=None, user=None, resource="", tag="")
                | Q(scope=BudgetScope.DEPARTMENT, department__isnull=False, user=None, resource="", tag="")
                | Q(scope=BudgetScope.USER, department=None, user__isnull=False, resource="", tag="")
                | (Q(scope=BudgetScope.RESOURCE, department=None, user=None, tag="") & ~Q(resource=""))
                | (Q(scope=BudgetScope.TAG, department=None, user=None, resource="") & ~Q(tag="")),
                name="budget_scope_has_its_reference",
            ),
        ]


class BudgetAlert(TenantModel):
    """A threshold that was passed in a month ("2026-11"): written once, however often the sweep looks."""

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="alerts")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    period = models.CharField(max_length=7)
    percent = models.PositiveSmallIntegerField()
    limit_fen = models.BigIntegerField()
    spent_fen = models.BigIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["budget", "period", "percent"], name="budget_alert_once"),
        ]
