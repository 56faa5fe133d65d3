"""Everything that runs is a Workload; what happens to it are its Events."""

import uuid
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now
from django.utils.functional import cached_property

from apps.billing.models import Package, PriceVersion
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST, LONGEST_KEY, MOST
from apps.tenants.models import Organisation, User
from apps.workloads.choices import LIVE, TERMINAL, Desired, Fault, Reason, Status
from apps.workloads.spec import Spec


class Workload(TenantModel):
    """What should be. `status` is written by `states` alone; a trigger keeps `spec` as it was submitted."""

    paid_rate: Decimal  # fen per hour, of rows that the selectors give: billing.prices.own

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="workloads")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="workloads")
    department_id = models.UUIDField(null=True)
    # Of a replica: the set that it is one of, and its number there; no two live ones of a set have the same.
    replica_set = models.ForeignKey(
        "workloads.ReplicaSet", on_delete=models.PROTECT, null=True, related_name="replicas"
    )
    replica_index = models.PositiveSmallIntegerField(null=True)
    kind = models.CharField(max_length=16)  # of those that `kinds` has
    name = models.CharField(max_length=120)
    spec = models.JSONField()
    # As the spec has it: programs that start and end together, each at the price of the package.
    member_count = models.PositiveSmallIntegerField(default=1, db_default=1)
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

    # As its owner says: how long it runs, and how long it may; None for what nobody said. The longest time counts over
    # all attempts, and `deadline_at` is when the present one has used it up; None while it does not run.
    expected_s = models.PositiveIntegerField(null=True)
    longest_s = models.PositiveIntegerField(null=True)
    deadline_at = models.DateTimeField(null=True)
    # Of which deadline its owner has been told; another one is told anew.
    deadline_told_at = models.DateTimeField(null=True)
    # It is stopped once its cards have not been used for so long; None: never for that.
    gpu_idle_minutes = models.PositiveIntegerField(null=True)

    created_at = models.DateTimeField(db_default=Now())
    status_since = models.DateTimeField(db_default=Now())
    queued_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="workload_newest"),
            models.Index(fields=["owner", "-created_at"], name="workload_owner_newest"),
            # Across organisations, for the console. With the names, so that a search reads the index alone.
            models.Index(fields=["-created_at", "-id"], include=["name"], name="workload_newest_of_all"),
            models.Index(fields=["-ended_at"], name="workload_failed", condition=models.Q(status=Status.FAILED)),
            models.Index(fields=["queued_at"], name="workload_waiting", condition=models.Q(status=Status.QUEUED)),
            models.Index(fields=["status"], name="workload_live", condition=models.Q(status__in=sorted(LIVE))),
            models.Index(fields=["stop_by"], name="workload_to_stop", condition=models.Q(stop_by__isnull=False)),
            models.Index(
                fields=["deadline_at"], name="workload_deadline", condition=models.Q(deadline_at__isnull=False)
            ),
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
            models.UniqueConstraint(
                fields=["replica_set", "replica_index"],
                condition=models.Q(status__in=sorted(LIVE)),
                name="one_live_replica_of_an_index",
            ),
            models.CheckConstraint(
                condition=models.Q(replica_set__isnull=True, replica_index__isnull=True)
                | models.Q(replica_set__isnull=False, replica_index__isnull=False, member_count=1),
                name="workload_replica_has_an_index",
            ),
            models.CheckConstraint(
                condition=models.Q(deadline_at__isnull=True) | models.Q(longest_s__isnull=False),
                name="workload_deadline_has_a_limit",
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
