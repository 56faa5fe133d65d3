"""A set of replicas: how many equal programs are to serve. Each of them is a Workload."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.functional import cached_property

from apps.billing.models import Package
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST
from apps.tenants.models import Organisation, User
from apps.workloads.choices import Desired, Reason
from apps.workloads.spec import Spec


class ReplicaSet(TenantModel):
    """What should be; written by `replicas.states` alone, made so by `replicas.converge`. How it goes is the sum of its
    replicas: `replicas.selectors`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=16)  # of those that `kinds` has
    name = models.CharField(max_length=120)
    # What each one is started with, those of later too.
    spec = models.JSONField()
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    priority = models.PositiveSmallIntegerField(null=True)  # as asked for; None: the highest of its owner
    tags = ArrayField(models.CharField(max_length=LONGEST), default=list, db_default=[])
    submit_key = models.CharField(max_length=64)

    wanted = models.PositiveSmallIntegerField()
    desired = models.CharField(max_length=8, choices=Desired, default=Desired.RUNNING)
    # Why it was ended, while nobody wants that empty.
    reason = models.CharField(max_length=32, blank=True, default=Reason.NONE)
    reason_data = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())
    # When the last replica of a set that nobody wants any more had ended.
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="replica_set_newest"),
            models.Index(fields=["id"], name="replica_set_open", condition=models.Q(ended_at__isnull=True)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "submit_key"], name="replica_set_submitted_once"),
            models.CheckConstraint(
                condition=models.Q(wanted__gte=1) | models.Q(desired=Desired.STOPPED), name="replica_set_wants_some"
            ),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=True) | models.Q(desired=Desired.STOPPED),
                name="replica_set_ended_was_asked",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def frozen_spec(self) -> Spec:
        return Spec.from_json(self.spec)
