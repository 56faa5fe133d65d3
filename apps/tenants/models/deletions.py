"""Accounts that are to be deleted, or were."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.tenants.models.people import User


class AccountDeletion(models.Model):
    """From asking to the last file: taken back until `erase_at`, then irreversible.

    At `erased_at` the account says no more who the person was; at `finished_at` the files are in the recycle bin, too.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="deletions")
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")  # None: the platform
    asked_at = models.DateTimeField(db_default=Now())
    erase_at = models.DateTimeField()
    was_active = models.BooleanField(default=True)  # what taking it back restores
    withdrawn_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # A keyed digest of the former user name: nobody is given it again, since the log and the books still show it.
    name_digest = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=Q(withdrawn_at=None), name="account_deletion_once"),
            models.CheckConstraint(
                condition=Q(withdrawn_at=None) | Q(erased_at=None), name="account_deletion_withdrawn_or_erased"
            ),
            models.CheckConstraint(
                condition=Q(finished_at=None) | Q(erased_at__isnull=False),
                name="account_deletion_finished_after_erased",
            ),
            models.CheckConstraint(condition=Q(erase_at__gte=F("asked_at")), name="account_deletion_has_a_term"),
        ]
        indexes = [
            models.Index(
                fields=["erase_at"], name="account_deletion_open", condition=Q(withdrawn_at=None, finished_at=None)
            ),
            models.Index(fields=["name_digest"], name="account_deletion_name", condition=~Q(name_digest="")),
        ]

    @property
    def by_themselves(self) -> bool:
        return self.asked_by_id == self.user_id
