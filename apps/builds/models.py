"""Builds: what somebody asked for; the kernel's Workload records what became of it, and `image` is the result."""

import uuid
from typing import Any

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.models import Image
from apps.storage.models import Folder, Manifest
from apps.tenants.models import Organisation, User
from apps.workloads.choices import Status
from apps.workloads.models import Workload


class Build(TenantModel):
    """One version of an image of its owner's. `files`: what COPY finds; None for none.

    `target`: the stage that was asked for; empty for the last. `steps`: line and text of each, in order, and which of
    `stages` it is one of, the last of which makes the image; each has its name and that of its base. `making`: what the
    image says of itself, as `Making` has it. `problem`: why the machine did not save what was built, as a driver
    says it.

    `repository`: of the platform's registry, to which it is pushed as `tag`; both empty where there is no registry, and
    the image stays on its machine. `saved`: what its machine made of it. `sending`: how far it is pushed.

    `step_keys`: by which its steps are found in the cache, or kept there. `cached`, `kept`: folders of what was found
    and of what it keeps itself; None once it has ended, and where it is built `without_cache`. `passed_on`: the folder
    of the files that later stages take of earlier ones; None once it has ended, and where none does.

    `waits_for`: the equal build for which it is held back from the queue (`equal`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, related_name="image_build")
    name = models.CharField(max_length=50)
    version = models.PositiveIntegerField()
    base = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    containerfile = models.TextField()
    steps = models.JSONField(default=list)
    stages = models.JSONField(default=list, db_default=[])
    making = models.JSONField(default=dict)
    files = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    plan = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    answers = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    image = models.OneToOneField(Image, on_delete=models.PROTECT, null=True, related_name="built_by")
    problem = models.JSONField(null=True)
    repository = models.CharField(max_length=200, default="", db_default="")
    target = models.CharField(max_length=60, default="", db_default="")
    tag = models.CharField(max_length=128, default="", db_default="")
    saved = models.CharField(max_length=400, default="", db_default="")
    sending = models.JSONField(null=True)
    without_cache = models.BooleanField(default=False, db_default=False)
    step_keys = models.JSONField(default=list, db_default=[])
    cached = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    kept = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    passed_on = models.ForeignKey(Folder, on_delete=models.PROTECT, null=True, related_name="+")
    waits_for = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="build_newest")]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "name", "version"], name="build_version_once")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """What the image is called."""
        return f"{self.name}:{self.tag or self.version}"

    @property
    def is_held_back(self) -> bool:
        """It waits until an equal build has ended."""
        return self.waits_for_id is not None and self.workload.status == Status.QUEUED

    @property
    def steps_of_stages(self) -> list[dict[str, Any]]:
        """`line`, `text` and `stage` of each."""
        names = [stage["name"] for stage in self.stages]
        return [{"stage": names[step["part"]] if names else "", **step} for step in self.steps]


class CachedStep(TenantModel):
    """What one step of a build has changed, for all builds of the organisation whose steps begin in the same way.

    `number`: of the step in the build that kept it. `digest`: of the archive, which is all that `manifest` holds.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=64)
    architecture = models.CharField(max_length=20)
    number = models.PositiveSmallIntegerField()
    digest = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    manifest = models.OneToOneField(Manifest, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    used_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "used_at"], name="cached_step_oldest")]
        constraints = [models.UniqueConstraint(fields=["organisation", "key", "architecture"], name="cached_step_once")]

    def __str__(self) -> str:
        return self.key
