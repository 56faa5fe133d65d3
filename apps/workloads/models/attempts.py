"""Each try to run a workload is an Attempt; what it holds are its Placements.

Most attempts are one program on one machine. An attempt of a gang has Members: programs that start and end together.
"""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.clusters.models import Accelerator, Node
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation
from apps.workloads.choices import CREDITED, Fault
from apps.workloads.models.workloads import Workload


class Observed(models.Model):
    """What the driver was told and what it proved of one program: of an attempt, or of one member of a gang."""

    handle = models.JSONField(null=True)
    # Last proof that the driver could see it; older than a few checks means "stale" on the page.
    seen_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ran_for_s = models.FloatField(null=True)
    phase = models.CharField(max_length=12, blank=True)
    steps = models.JSONField(default=dict)  # start-up step → seconds
    progress = models.JSONField(default=dict)  # {"text", "fraction"} of the step under way
    usage = models.JSONField(default=dict)
    peak_memory_mib = models.PositiveIntegerField(null=True)
    peak_cpu_milli = models.PositiveIntegerField(null=True)
    peak_gpu_memory_mib = models.PositiveIntegerField(null=True)  # on the fullest of its cards
    peak_gpu_util_pct = models.FloatField(null=True)
    # When its cards were last seen in use, or could not be seen, which counts the same.
    gpu_used_at = models.DateTimeField(null=True)
    # When its program last wrote a checkpoint, as the driver saw it.
    checkpoint_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    exit_signal = models.IntegerField(null=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    exit_detail = models.TextField(blank=True)

    class Meta:
        abstract = True


class Attempt(TenantModel, Observed):
    """One try. `fence` rises with each claim: only the newest claimant's result is written.

    Of a gang, `node` and `handle` are those of rank 0, and the rest sums up its members (`reconcile.gangs`): the phase
    of the slowest, the usage of all, the exit of the first that ended badly.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="attempts")
    # `Node.facts` as its first proof of running found them: operating system, processor, driver versions.
    machine_facts = models.JSONField(default=dict, db_default={})
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    next_check_at = models.DateTimeField(db_default=Now())
    placed_at = models.DateTimeField(db_default=Now())
    # Of a gang on several machines: the number of its network, no other live attempt's (`workloads.drivers.overlay`).
    network_number = models.PositiveIntegerField(null=True)
    # Of an elastic gang: how many of its members there was room for, each of which is charged. None: all of them.
    size = models.PositiveSmallIntegerField(null=True)
    stop_asked_at = models.DateTimeField(null=True)
    # Its machine was declared lost: nobody looks at it any more, it is fenced and then ended. `gone_at`: when the
    # machine, or the last one of a gang's, proved that nothing of it runs there.
    given_up_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(null=True)
    # Whose matter its end was, and what is credited where that was the node or the platform: the seconds of work since
    # its last checkpoint (null: not measured yet), and the whole fen that were given back.
    fault = models.CharField(max_length=10, choices=Fault, blank=True, default=Fault.NOBODY, db_default="")
    lost_s = models.FloatField(null=True)
    credited_fen = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["workload", "number"]
        indexes = [
            models.Index(fields=["next_check_at"], name="attempt_due", condition=models.Q(ended_at__isnull=True)),
            # What left the queue lately, for how long one waits.
            models.Index(fields=["placed_at"], name="attempt_placed"),
            models.Index(
                fields=["placed_at"], name="attempt_networked", condition=models.Q(network_number__isnull=False)
            ),
            models.Index(
                fields=["node"],
                name="attempt_given_up",
                condition=models.Q(given_up_at__isnull=False, gone_at__isnull=True),
            ),
            models.Index(fields=["gone_at"], name="attempt_gone", condition=models.Q(gone_at__isnull=False)),
            models.Index(
                fields=["ended_at"],
                name="attempt_uncredited",
                condition=models.Q(fault__in=sorted(CREDITED), lost_s__isnull=True, ended_at__isnull=False),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["workload", "number"], name="attempt_number_once"),
            models.UniqueConstraint(
                fields=["workload"], condition=models.Q(ended_at__isnull=True), name="one_live_attempt"
            ),
            models.UniqueConstraint(
                fields=["network_number"], condition=models.Q(ended_at__isnull=True), name="network_number_once"
            ),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=True) | models.Q(ended_at__gte=models.F("placed_at")),
                name="attempt_ends_after_placement",
            ),
            models.CheckConstraint(
                condition=models.Q(started_at__isnull=True)
                | models.Q(ended_at__isnull=True)
                | models.Q(ended_at__gte=models.F("started_at")),
                name="attempt_ends_after_start",
            ),
        ]

    @property
    def member_count(self) -> int:
        """How many programs it has, which start and end together."""
        count: int = self.workload.member_count
        return count if self.size is None else self.size


class Member(TenantModel, Observed):
    """One program of a gang: its rank, from 0 on, and the node that it is on. An attempt of one program has none."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="members")
    rank = models.PositiveSmallIntegerField()
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="members")
    # Of an attempt that was given up: when the member's machine proved that it does not run there.
    gone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["attempt", "rank"]
        indexes = [
            models.Index(fields=["node"], name="member_live", condition=models.Q(ended_at__isnull=True)),
        ]
        constraints = [models.UniqueConstraint(fields=["attempt", "rank"], name="member_rank_once")]


class Placement(TenantModel):
    """A piece of a node held by an attempt, for its member `rank`.

    CPU and memory are on the first row of each member; each slice of a card has a row.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="placements")
    rank = models.PositiveSmallIntegerField(default=0, db_default=0)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="placements")
    accelerator = models.ForeignKey(Accelerator, on_delete=models.PROTECT, null=True, related_name="placements")
    cpu_milli = models.PositiveIntegerField(default=0)
    memory_mib = models.PositiveIntegerField(default=0)
    device_memory_mib = models.PositiveIntegerField(default=0)
    core_milli = models.PositiveIntegerField(default=0)
    mig_start = models.PositiveSmallIntegerField(null=True)
    mig_profile = models.CharField(max_length=24, blank=True)
    exclusive = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    released_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["node"], name="placement_held", condition=models.Q(released_at__isnull=True)),
            # What ended since the last look, for recent use.
            models.Index(fields=["released_at"], name="placement_released"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["accelerator"],
                condition=models.Q(released_at__isnull=True, exclusive=True),
                name="whole_card_once",
            ),
            models.UniqueConstraint(
                fields=["accelerator", "mig_start"],
                condition=models.Q(released_at__isnull=True, mig_start__isnull=False),
                name="mig_slice_once",
            ),
        ]
