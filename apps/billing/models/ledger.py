"""Double-entry accounts. A transfer is one row, so an unbalanced posting cannot be written."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import ORGANISATION_KINDS, PLATFORM_KINDS, AccountKind, TransferKind
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation


class Account(TenantModel):
    """A balance in fen. `balance_fen` and `held_fen` are kept by triggers (sql/transfer_apply.sql,
    sql/hold_apply.sql); the application's role can write neither. A credit raises a balance, a debit lowers it, so
    all balances together are always zero.

    A wallet (`cash`) may fall below zero: usage that has been consumed is charged even when nothing is left.
    Everything that is somebody's decision stops at the credit limit, in the trigger.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=20, choices=AccountKind)
    balance_fen = models.BigIntegerField(default=0)
    held_fen = models.BigIntegerField(default=0)
    credit_limit_fen = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "kind"], name="account_once", nulls_distinct=False),
            models.CheckConstraint(
                condition=Q(organisation__isnull=False, kind__in=ORGANISATION_KINDS)
                | Q(organisation__isnull=True, kind__in=PLATFORM_KINDS),
                name="account_kind_fits_owner",
            ),
            models.CheckConstraint(
                condition=Q(held_fen=0) | Q(held_fen__gt=0, kind=AccountKind.CASH), name="account_held_only_cash"
            ),
            models.CheckConstraint(
                condition=Q(credit_limit_fen=0) | Q(credit_limit_fen__gt=0, kind=AccountKind.CASH),
                name="account_credit_only_cash",
            ),
            models.CheckConstraint(
                condition=Q(balance_fen__gte=0) | ~Q(kind__in=[AccountKind.VOUCHER, AccountKind.DEFERRED]),
                name="account_no_negative_promises",
            ),
        ]

    @property
    def available_fen(self) -> int:
        """What may be decided about: balance and credit, less what is held. Negative in arrears."""
        return self.balance_fen + self.credit_limit_fen - self.held_fen

    @property
    def funds_fen(self) -> int:
        """What running work may still consume: its own holds included."""
        return self.balance_fen + self.credit_limit_fen


class Transfer(TenantModel):
    """One movement of money, for ever. `idem` is the business key that makes a repeated posting find this row.

    `organisation` is the tenant among the two accounts (set by a trigger), null between platform accounts.
    """

    is_new = False  # kept nowhere: whether the call that returned this object made the movement
    # Triggers hold what foreign keys would, without a lock at the commit. The organisation has no index of its own:
    # `transfer_of_organisation` begins with it.
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, null=True, related_name="+", db_index=False, db_constraint=False
    )
    debit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="debits", db_constraint=False)
    credit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="credits", db_constraint=False)
    amount_fen = models.BigIntegerField()
    kind = models.CharField(max_length=20, choices=TransferKind)
    idem = models.CharField(max_length=200)
    ref = models.CharField(max_length=120, blank=True)
    note = models.CharField(max_length=300, blank=True)
    actor_id = models.BigIntegerField(null=True)
    actor_label = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "kind", "-at"], name="transfer_of_organisation"),
            models.Index(fields=["kind", "-at"], name="transfer_newest"),
        ]
        constraints = [
            # Not `unique` at the field, which would add a second index for LIKE that nobody asks.
            models.UniqueConstraint(fields=["idem"], name="transfer_idem_once"),
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="transfer_amount_positive"),
            models.CheckConstraint(condition=~Q(debit=F("credit")), name="transfer_between_two"),
            models.CheckConstraint(condition=Q(kind__in=list(TransferKind)), name="transfer_kind_known"),
        ]
