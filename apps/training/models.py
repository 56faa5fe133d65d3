"""Training runs: what a person asked for; the kernel's Workload says what became of it."""

import uuid
from decimal import Decimal

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel
from apps.registry.models import Image
from apps.storage.models import Folder
from apps.tenants.models import Organisation, User
from apps.workloads.models import Workload


class Entry(models.TextChoices):
    PYTHON = "python", _("Python script")
    SHELL = "shell", _("Shell script")


class Run(TenantModel):
    """One version of a training job. Never changed: a rerun or an edited clone is the next version of its family."""

    paid_rate: Decimal  # fen per hour, of rows that the selectors give: billing.prices.own

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, related_name="training_run")
    name = models.CharField(max_length=80)
    family = models.UUIDField()
    version = models.PositiveIntegerField(default=1)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    note = models.CharField(max_length=200, blank=True)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    entry = models.CharField(max_length=8, choices=Entry)
    script = models.CharField(max_length=200)
    arguments = models.JSONField(default=list)  # [[name, value], …] as typed
    environment = models.JSONField(default=list)  # [[name, value], …]
    code = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    output = models.ForeignKey(Folder, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="run_newest")]
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="run_version_once")]

    def __str__(self) -> str:
        return self.name
