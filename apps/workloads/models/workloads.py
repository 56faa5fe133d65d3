"""Everything that runs is a Workload; each try to run it is an Attempt; what it holds is its Placements."""

import uuid
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now
from django.utils.functional import cached_property

from apps.billing.models import Package, PriceVersion
from apps.clusters.models import Accelerator, Node
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST, LONGEST_KEY, MOST
from apps.tenants.models import Organisation, User
from apps.workloads.choices import CREDITED, LIVE, TERMINAL, Desired, Fault, Reason, Status
from apps.workloads.spec import Spec


class Workload(TenantModel):
    """What should be. `status` is written by `states` alone; a trigger keeps `spec` as it was submitted."""

    paid_rate: Decimal  # fen per hour, of rows that the selectors give: billing.prices.own

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="workloads")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="workloads")
    department_id = models.UUIDField(null=True)
    kind = models.CharField(max_length=16)  # of those that `kinds` has
    name = models.CharField(max_length=120)
    spec = models.JSONField()
    priority = models.PositiveSmallIntegerField(default=3)
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    price_version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, related_name="+")
    submit_key = models.CharField(max_length=64)
    # As typed, and as they are compared. What is metered from now on is counted under them.
    tags = ArrayField(models.CharField(max_length=LONGEST), default=list, db_default=[])
    tag_keys = ArrayField(models.CharField(max_length=LONGEST_KEY), default=list, db_default=[])

    desired = models.CharField(max_length=8, choices=Desired, default=Desired.RUNNING)
    generation = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED)
    reason = models.CharField(max_length=32, blank=True, default=Reason.SUBMITTED)
    reason_data = models.JSONField(default=dict)
    fault = models.CharField(max_length=10, choices=Fault, blank=True, default=Fault.NOBODY)
    attempt_number = models.PositiveSmallIntegerField(default=0)
    # The scheduler's last word on why it waits (funnel, position, estimate), for the page and the API.
    explanation = models.JSONField(default=dict)
    explained_at = models.DateTimeField(null=True)
    # Nodes where the last pass kept room for it, and since when: handed back to the next pass, which keeps the promise.
    promised_nodes = models.JSONField(default=list)
    promised_at = models.DateTimeField(null=True)

    # To be saved and then stopped for this reason, at the latest by then; empty and None while nobody wants that.
    stop_reason = models.CharField(max_length=32, blank=True, default="")
    stop_by = models.DateTimeField(null=True)

    created_at = models.DateTimeField(db_default=Now())
    status_since = models.DateTimeField(db_default=Now())
    queued_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="workload_newest"),
            models.Index(fields=["owner", "-created_at"], name="workload_owner_newest"),
            # Across organisations, for the console.
            models.Index(fields=["-created_at", "-id"], name="workload_newest_of_all"),
            models.Index(fields=["-ended_at"], name="workload_failed", condition=models.Q(status=Status.FAILED)),
            models.Index(fields=["queued_at"], name="workload_waiting", condition=models.Q(status=Status.QUEUED)),
            models.Index(fields=["status"], name="workload_live", condition=models.Q(status__in=sorted(LIVE))),
            models.Index(fields=["stop_by"], name="workload_to_stop", condition=models.Q(stop_by__isnull=False)),
            models.Index(
                fields=["promised_at"], name="workload_promised", condition=models.Q(promised_at__isnull=False)
            ),
            GinIndex(fields=["tag_keys"], name="workload_tagged"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "submit_key"], name="workload_submitted_once"),
            models.CheckConstraint(condition=models.Q(status__in=sorted(Status)), name="workload_status_known"),
            models.CheckConstraint(condition=models.Q(priority__range=(1, 5)), name="workload_priority_1_to_5"),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=True) | models.Q(status__in=sorted(TERMINAL)),
                name="workload_ended_is_terminal",
            ),
            models.CheckConstraint(
                condition=models.Q(stop_reason="", stop_by__isnull=True)
                | (~models.Q(stop_reason="") & models.Q(stop_by__isnull=False)),
                name="workload_stop_has_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(tags__len__lte=MOST, tag_keys__len=models.F("tags__len")), name="workload_tags_few"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def frozen_spec(self) -> Spec:
        return Spec.from_json(self.spec)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def simulated(self) -> bool:
        """Whether it runs, ran or waits for hardware that does not exist."""
        return bool(self.spec.get("simulated"))


class Attempt(TenantModel):
    """One try. `fence` rises with each claim: only the newest claimant's result is written."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="attempts")
    handle = models.JSONField(null=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    next_check_at = models.DateTimeField(db_default=Now())
    # Last proof that the driver could see it; older than a few checks means "stale" on the page.
    seen_at = models.DateTimeField(null=True)
    placed_at = models.DateTimeField(db_default=Now())
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
    # When its program last wrote a checkpoint, as the driver saw it.
    checkpoint_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    exit_signal = models.IntegerField(null=True)
    exit_reason = models.CharField(max_length=16, blank=True)
    exit_detail = models.TextField(blank=True)
    stop_asked_at = models.DateTimeField(null=True)
    # Its machine was declared lost: nobody looks at it any more, it is fenced and then ended. `gone_at`: when the
    # machine proved that nothing of it runs there.
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


class Placement(TenantModel):
    """A piece of a node held by an attempt: CPU and memory on its first row, one row for each slice of a card."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="placements")
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


class Event(TenantModel):
    """What happened to a workload, why and by whom. Append-only; browsers resume from its id."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="events")
    attempt_number = models.PositiveSmallIntegerField(default=0)
    kind = models.CharField(max_length=32)
    status = models.CharField(max_length=12, choices=Status)
    reason = models.CharField(max_length=32, blank=True)
    data: Any = models.JSONField(default=dict)
    actor_label = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["workload", "id"], name="event_of_workload"),
            models.Index(fields=["organisation", "id"], name="event_of_organisation"),
        ]


class SchedulerEpoch(models.Model):
    """One row: the last scheduling pass. Its number rises with each pass that wrote decisions."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(db_default=Now())
    milliseconds = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0)
    # The typical mix of tasks, learned with decay, as the scheduler's `LearnedMix` writes it.
    mix = models.JSONField(default=dict)
    # By world, tasks that passes left waiting beside free room, since when: see `queueing.standstill`.
    standing = models.JSONField(default=dict)
