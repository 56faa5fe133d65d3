"""Models and their versions: what was trained, imported or uploaded, and where it came from."""

import uuid
from typing import Any

from django.db import models
from django.db.models.functions import Lower, Now
from guardian.models import UserObjectPermissionBase

from apps.common.permissions import Permission
from apps.common.scoping import TenantModel
from apps.modelhub.choices import Format, PromotionState, Source, Stage, VersionState
from apps.storage.models import DatasetVersion, Manifest, OwnedRights, Versioned
from apps.tenants.models import Organisation, User
from apps.workloads.models import Workload

MODEL_RIGHTS = OwnedRights(Permission.MODELS_VIEW, Permission.MODELS_USE, Permission.MODELS_MANAGE_ALL)


class Model(Versioned):
    """`open_to_all`: every colleague may read it; else its owner, and whom it is shared with."""

    rights = MODEL_RIGHTS

    open_to_all = models.BooleanField(default=False, db_default=False)

    class Meta:
        default_permissions = ()
        permissions = [("read_model", "May read the model"), ("write_model", "May add versions")]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="model_newest")]
        constraints = [
            models.UniqueConstraint(
                "owner",
                Lower("name"),
                "organisation",
                condition=models.Q(deleted_at__isnull=True),
                name="model_name_once",
            ),
            models.CheckConstraint(
                condition=models.Q(deleted_at__isnull=True, purge_at__isnull=True)
                | models.Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="model_bin_has_an_end",
            ),
        ]

    @classmethod
    def open_to_colleagues(cls) -> models.Q:
        return models.Q(open_to_all=True)


class ModelShare(UserObjectPermissionBase):
    """django-guardian's object permission, with a real foreign key: it goes with its model."""

    content_object = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="shares")


class ModelVersion(TenantModel):
    """One state of a model. What it holds is there once it is `ready`; from then on nothing of it changes.

    The database refuses other changes than these: see `sql/version_immutable.sql`. `signature`: `inputs` and `outputs`,
    each a list of name, datatype and shape as the Open Inference Protocol 2 has them, -1 for a free dimension.
    `facts`: what else its files say of it, such as the number of parameters. `metrics`: as its maker knew them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    model = models.ForeignKey(Model, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    note = models.CharField(max_length=200, blank=True)
    # Markdown, as people write it for others: what it is for, what it is not for, what it is bad at.
    card = models.TextField(blank=True, default="", db_default="")
    state = models.CharField(max_length=8, choices=VersionState, default=VersionState.COPYING)
    error = models.TextField(blank=True)

    manifest = models.OneToOneField(Manifest, on_delete=models.PROTECT, null=True, related_name="+")
    file_count = models.PositiveIntegerField(default=0)
    total_bytes = models.BigIntegerField(default=0)
    # Of these, bytes that an earlier version of the model holds too; they take no room again.
    shared_bytes = models.BigIntegerField(default=0)
    reserved_mib = models.PositiveIntegerField(default=0)
    # Of its files, as `storage.digests` has it, in hexadecimal.
    digest = models.CharField(max_length=64, blank=True)
    # Of the file that names all of its contents, see `storage.listings`.
    listing_sha256 = models.BinaryField(max_length=32, null=True)

    format = models.CharField(max_length=16, choices=Format, blank=True)
    framework = models.CharField(max_length=60, blank=True)
    executes_code = models.BooleanField(default=False)
    signature: Any = models.JSONField(default=dict)
    facts: Any = models.JSONField(default=dict)
    metrics: Any = models.JSONField(default=dict)

    source = models.CharField(max_length=8, choices=Source)
    # The name of the run or volume and the path inside, for whom the rows below have gone.
    source_name = models.CharField(max_length=200, blank=True)
    source_path = models.TextField(blank=True)
    workload = models.ForeignKey(Workload, on_delete=models.SET_NULL, null=True, related_name="model_versions")
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    code_digest = models.CharField(max_length=64, blank=True)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["model", "number"], name="model_version_once"),
            models.CheckConstraint(condition=models.Q(state__in=VersionState.values), name="model_version_state_known"),
            models.CheckConstraint(
                condition=models.Q(
                    state=VersionState.READY, manifest__isnull=False, file_count__gt=0, ended_at__isnull=False
                )
                | models.Q(state=VersionState.FAILED, manifest__isnull=True, ended_at__isnull=False)
                | models.Q(state=VersionState.COPYING, manifest__isnull=True, ended_at__isnull=True),
                name="model_version_whole_or_none",
            ),
        ]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="model_version_newest")]

    def __str__(self) -> str:
        return f"{self.model.name} v{self.number}"

    @property
    def relative_path(self) -> str:
        """Below the data root; what a workload's mount names."""
        return f"{self.organisation_id}/model/{self.pk}"

    @property
    def is_ready(self) -> bool:
        return self.state == VersionState.READY


class TrainingData(TenantModel):
    """A dataset version that a model version was trained on. `name` stays where the dataset has gone."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="training_data")
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=80)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["version", "dataset_version"], name="model_training_data_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ModelAlias(TenantModel):
    """A name by which work asks for a version, such as `production`: it moves, the version does not change."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    model = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=40)
    version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="aliases")
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["model", "name"], name="model_alias_once")]

    def __str__(self) -> str:
        return self.name


class Promotion(TenantModel):
    """Somebody asks that a version takes a stage, and somebody else decides. `state` is written by `states` alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="promotions")
    stage = models.CharField(max_length=12, choices=Stage)
    state = models.CharField(max_length=10, choices=PromotionState, default=PromotionState.OPEN)
    reason = models.CharField(max_length=500, blank=True)
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())
    answer = models.CharField(max_length=500, blank=True)
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "stage"],
                condition=models.Q(state=PromotionState.OPEN),
                name="model_promotion_open_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=PromotionState.values), name="model_promotion_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state=PromotionState.OPEN, decided_by__isnull=True, decided_at__isnull=True)
                | (~models.Q(state=PromotionState.OPEN) & models.Q(decided_by__isnull=False, decided_at__isnull=False)),
                name="model_promotion_decided",
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.state == PromotionState.OPEN
