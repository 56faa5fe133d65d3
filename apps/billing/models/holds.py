"""Money set aside. A hold is never edited: its end is a row of its own, so it ends once."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.choices import HoldOutcome, HoldReason
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class Hold(TenantModel):
    """Fen of an organisation's wallet set aside for one workload.

    Holds of a workload are numbered from 1; a trigger (sql/hold_apply.sql) lets number n+1 in only when n has ended,
    keeps the wallet's `held_fen`, and refuses a hold that the wallet cannot cover. An amount of zero keeps the
    place of a hold while nothing is left. `covered_fen` of the same work are not held of the wallet because vouchers
    stand for them; they count against what vouchers can stand for next.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    workload_id = models.UUIDField()
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=200)
    reason = models.CharField(max_length=12, choices=HoldReason)
    amount_fen = models.BigIntegerField()
    covered_fen = models.BigIntegerField(default=0, db_default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workload_id", "number"], name="hold_number_once"),
            models.CheckConstraint(condition=Q(amount_fen__gte=0, covered_fen__gte=0), name="hold_not_negative"),
            models.CheckConstraint(condition=Q(number__gte=1), name="hold_numbers_from_one"),
            models.CheckConstraint(condition=Q(reason__in=list(HoldReason)), name="hold_reason_known"),
        ]


class HoldEnd(TenantModel):
    hold = models.OneToOneField(Hold, on_delete=models.PROTECT, primary_key=True, related_name="end")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=12, choices=HoldOutcome)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=list(HoldOutcome)), name="hold_outcome_known"),
        ]
