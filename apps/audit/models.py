"""The operation log: append-only rows that outlive their objects, so they hold ids and labels, no foreign keys."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.common.scoping import TenantModel

# Prices, packages, credit and terms, recharges, vouchers, statements, invoices, requests, budgets, and the settings of
# all these. The index below has the same condition, so that the newest of them are found among any number of others.
_SUBJECTS = ("billing.", "budget.", "package_request.")
_ACTIONS = ("organisation.packages", "zone.billed")
CONCERNS_MONEY = (
    Q(*(("action__startswith", subject) for subject in _SUBJECTS), _connector=Q.OR)
    | Q(action__in=_ACTIONS)
    | Q(action="settings.changed", target_id__in=["alipay", "arrears", "package-review", "payment"])
)


def concerns_money(action: str) -> bool:
    """Whether all entries of this action concern money; of settings, only some do."""
    return action.startswith(_SUBJECTS) or action in _ACTIONS


class Entry(TenantModel):
    """One change: who did what to which object, in which role, with the values before and after.

    A trigger (apps/common/sql/append_only.sql) refuses UPDATE, DELETE and TRUNCATE.
    """

    at = models.DateTimeField(db_default=Now())
    organisation_id = models.UUIDField(null=True)
    actor_id = models.BigIntegerField(null=True)
    actor_label = models.CharField(max_length=200)
    channel = models.CharField(max_length=16)
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=80)
    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    target_label = models.CharField(max_length=200)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_money", condition=CONCERNS_MONEY),
            models.Index(fields=["-at", "-id"], name="audit_newest"),
            models.Index(fields=["organisation_id", "-at"], name="audit_organisation"),
            models.Index(fields=["target_type", "target_id"], name="audit_target"),
        ]
