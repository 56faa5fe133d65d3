"""Services: what answers at an address, in which versions, and who may call it.

Replicas are the kernel's (`workloads.models.ReplicaSet`); what they serve, and since when they are well, is here.
"""

import uuid
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.models import Package
from apps.common.scoping import TenantModel
from apps.modelhub.models import ModelVersion
from apps.registry.models import Image
from apps.serving.choices import OPEN, DeploymentStatus, Ending, Held, Runtime
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User
from apps.workloads.models import Attempt, ReplicaSet

LONGEST_PROBLEM = 300
ONE_PREPARES = Q(status=DeploymentStatus.PREPARING)
ONE_SERVES = Q(status=DeploymentStatus.ACTIVE)


class Service(TenantModel):
    """An address that stays while what answers there changes. `host`: its first label.

    `package`, `replicas`: of the next start. `cors_origins`: pages that may call it from a browser; `*`: any.
    `stops_at`: when it is stopped by itself. `back_at_percent`: of failing answers, from which a new version is left
    for the one before; None: never.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=50)
    note = models.CharField(max_length=200, blank=True, default="")
    host = models.CharField(max_length=63, unique=True)
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    replicas = models.PositiveSmallIntegerField()
    cors_origins = ArrayField(models.CharField(max_length=200), default=list)
    stops_at = models.DateTimeField(null=True)
    back_at_percent = models.PositiveSmallIntegerField(null=True)
    submit_key = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="service_newest")]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"], condition=Q(deleted_at__isnull=True), name="service_name_once"
            ),
            models.UniqueConstraint(fields=["organisation", "owner", "submit_key"], name="service_made_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ServiceVersion(TenantModel):
    """What a service may run; never changed. `code`: the folder with the script, of a script alone. `argv`: what an own
    server is started with.

    `mounts`: volumes and dataset versions, as `envs.Environment.mounts` has them. `at_a_time`: calls of `predict` that
    one replica makes at once. `timeout_s`: after which an answer has to begin, and between two pieces of one.
    `repeatable`: a request may be sent to another replica again if the one that had it breaks off before it answers.
    `smoke_path`: where `smoke_body` is posted before the version takes over; empty: no such request.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    runtime = models.CharField(max_length=16, choices=Runtime)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    script = models.TextField(blank=True, default="")
    code = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    # Found at `program.MODEL`. Whoever deletes it is told of services that may start this again (`model_uses`).
    model = models.ForeignKey(ModelVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    argv = ArrayField(models.CharField(max_length=1000), default=list)
    mounts = models.JSONField(default=list)
    port = models.PositiveIntegerField()
    health_path = models.CharField(max_length=200)
    at_a_time = models.PositiveSmallIntegerField(default=1)
    timeout_s = models.PositiveIntegerField(default=60)
    body_limit_mib = models.PositiveIntegerField(default=16)
    repeatable = models.BooleanField(default=True)
    smoke_path = models.CharField(max_length=200, blank=True, default="")
    smoke_body = models.TextField(blank=True, default="")
    note = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["service", "number"], name="service_version_once")]

    def __str__(self) -> str:
        return f"v{self.number}"


class Deployment(TenantModel):
    """One version as a set of replicas, from its start to its end: the service's history of updates.

    `reason`: why it is over, or about to be; `reason_data` may say more. `draining_since`: when the door was told to
    lead nobody there any more. `smoked_at`: when the version's smoke request came to an end; `smoke_problem`: what was
    wrong, empty for nothing. `asked_before`: requests and errors that `going_back` does not count. `went_back_at`: when
    its answers failed too often. `returns`: it is what was gone back to.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="deployments")
    version = models.ForeignKey(ServiceVersion, on_delete=models.PROTECT, related_name="deployments")
    replica_set = models.OneToOneField(ReplicaSet, on_delete=models.PROTECT, related_name="deployment")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=16, choices=DeploymentStatus, default=DeploymentStatus.PREPARING)
    reason = models.CharField(max_length=32, choices=Ending, blank=True, default=Ending.NONE)
    reason_data: Any = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())
    active_at = models.DateTimeField(null=True)
    draining_since = models.DateTimeField(null=True)
    smoked_at = models.DateTimeField(null=True)
    smoke_problem = models.CharField(max_length=LONGEST_PROBLEM, blank=True, default="", db_default="")
    ended_at = models.DateTimeField(null=True)
    asked_before: Any = models.JSONField(null=True)
    went_back_at = models.DateTimeField(null=True)
    returns = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["id"], name="deployment_open", condition=Q(status__in=sorted(OPEN)))]
        constraints = [
            models.UniqueConstraint(fields=["service"], condition=ONE_PREPARES, name="one_deployment_prepares"),
            models.UniqueConstraint(fields=["service"], condition=ONE_SERVES, name="one_deployment_serves"),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.version}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Health(TenantModel):
    """What the checks of a replica's try say. `since`: of `ready`. `failures`: in a row. `problem`: the newest."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, primary_key=True, related_name="service_health")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    ready = models.BooleanField(default=False)
    since = models.DateTimeField(db_default=Now())
    failures = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.attempt_id}: {self.ready}"


class Scaling(TenantModel):
    """That a service's number of replicas follows the load; without this row it is what a person chose.

    `scaling.deciding` says what the numbers mean. `since`: when they were set. `peaks`: by minute since 1970, the
    highest number that was recommended. `held`: why it has fewer replicas than it would; tried again at `held_until`.
    """

    service = models.OneToOneField(Service, on_delete=models.CASCADE, primary_key=True, related_name="scaling")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    least = models.PositiveSmallIntegerField()
    most = models.PositiveSmallIntegerField()
    target = models.PositiveSmallIntegerField()
    patience_min = models.PositiveSmallIntegerField()
    since = models.DateTimeField(db_default=Now())
    peaks: Any = models.JSONField(default=dict)
    held = models.CharField(max_length=32, choices=Held, blank=True, default=Held.NOT)
    held_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(least__gte=1, most__gte=models.F("least")), name="scaling_bounds")
        ]

    def __str__(self) -> str:
        return f"{self.service_id}: {self.least} to {self.most}"


class Load(TenantModel):
    """Requests for a service that one process of the gateway holds, on average over the seconds before `told_at`."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.CASCADE, related_name="loads")
    process = models.UUIDField()
    in_flight = models.FloatField()
    told_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["service", "process"], name="service_load_once")]

    def __str__(self) -> str:
        return f"{self.service_id}: {self.in_flight}"


class ModelName(TenantModel):
    """What programs call a service by at the organisation's own address, where they speak OpenAI's protocol.

    `upstream`: what the service itself calls the model; empty: the same. `fallback`: the name that is led to instead
    while the service has no replica that is well.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.PROTECT, related_name="model_names")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    upstream = models.CharField(max_length=200, blank=True, default="")
    fallback = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="served_name_once")]

    def __str__(self) -> str:
        return self.name


class ServiceKey(TenantModel):
    """With what a program calls one service, or without `service`, all that have a name at the organisation's address.

    A bearer key, of which only the SHA-256 is kept. `per_minute`, `tokens_per_minute`: the most requests, and tokens in
    and out of a key without `service`; None: no limit of its own.
    `model_names`: those that it is for, of a key without `service`; empty: all. `follows`: the key that it was made in
    place of.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.PROTECT, null=True, related_name="keys")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    prefix = models.CharField(max_length=13)
    digest = models.CharField(max_length=64, unique=True)
    per_minute = models.PositiveIntegerField(null=True)
    tokens_per_minute = models.PositiveIntegerField(null=True)
    model_names = ArrayField(models.CharField(max_length=100), default=list, db_default=[])
    follows = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name


class Usage(TenantModel):
    """What a key asked of a service in a minute. `errors`: answers from 500 on, or none. `refused`: by the door itself.

    `times`: how many answers began within each of `latency.BOUNDS_MS`, and, last, later than all of them. Tokens are
    what answers at the organisation's address said of them; `untold`: good answers there that said nothing.
    """

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    service = models.ForeignKey(Service, on_delete=models.CASCADE, related_name="usage")
    key = models.ForeignKey(ServiceKey, on_delete=models.CASCADE, related_name="usage")
    minute = models.DateTimeField()
    requests = models.PositiveBigIntegerField(default=0)
    errors = models.PositiveBigIntegerField(default=0)
    refused = models.PositiveBigIntegerField(default=0)
    times = ArrayField(models.BigIntegerField(), default=list)
    tokens_in = models.PositiveBigIntegerField(default=0, db_default=0)
    tokens_out = models.PositiveBigIntegerField(default=0, db_default=0)
    untold = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        indexes = [
            models.Index(fields=["service", "minute"], name="service_usage_newest"),
            models.Index(fields=["organisation", "minute"], name="organisation_usage_newest"),
        ]
        constraints = [models.UniqueConstraint(fields=["key", "service", "minute"], name="service_usage_once")]

    def __str__(self) -> str:
        return f"{self.key_id} {self.minute}"
