"""What a card's driver wrote of it into the kernel's log; in a module of its own, and one of `clusters.models`."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.clusters.xids import FATAL, LONGEST_PROCESS, LONGEST_TEXT


class CardFault(models.Model):
    """An XID of a card in one start of its machine, alike ones of one program as one.

    `at`, `last_at`: the first and the newest of them, by the machine's clock. `last_usec` since its start: by it one
    that came after a reset is told from one before, whatever the clocks say.
    """

    accelerator = models.ForeignKey("clusters.Accelerator", on_delete=models.CASCADE, related_name="faults")
    boot_id = models.UUIDField()
    code = models.PositiveSmallIntegerField()
    pid = models.PositiveIntegerField(default=0)
    process = models.CharField(max_length=LONGEST_PROCESS, blank=True)
    text = models.CharField(max_length=LONGEST_TEXT, blank=True)
    remedy = models.CharField(max_length=8)  # one of `clusters.xids.Remedy`
    at = models.DateTimeField()
    last_at = models.DateTimeField()
    last_usec = models.PositiveBigIntegerField()
    recorded_at = models.DateTimeField(db_default=Now())
    # When somebody said that the card has been reset since, and who.
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=200, blank=True)
    # When the operators were told of it.
    told_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-last_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["accelerator", "boot_id", "code", "pid"], name="card_fault_once"),
        ]
        indexes = [models.Index(fields=["accelerator", "-last_at"], name="card_fault_newest")]

    @property
    def is_fatal(self) -> bool:
        return self.remedy in FATAL

    @property
    def stands(self) -> bool:
        """Whether it keeps work away from its card now. The row comes with its card and node."""
        return self.is_fatal and self.resolved_at is None and self.boot_id == self.accelerator.node.boot_id


# Faults that keep work away from their card, in the start of the machine that they came in.
STANDING = Q(remedy__in=[remedy.value for remedy in FATAL], resolved_at__isnull=True)
