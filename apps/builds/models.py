"""Builds: what somebody asked for; the kernel's Workload records what became of it, and `image` is the result."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.models import Image
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User
from apps.workloads.models import Workload


class Build(TenantModel):
    """One version of an image of its owner's. `files`: what COPY finds; None for none.

    `target`: the stage that was asked for; empty for the last. `steps`: line and text of each, in order. `making`: what
    the image says of itself, as `Making` has it. `problem`: why the machine did not save what was built, as a driver
    says it.

    `repository`: of the platform's registry, to which it is pushed as `tag`; both empty where there is no registry, and
    the image stays on its machine. `saved`: what its machine made of it. `sending`: how far it is pushed.
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
