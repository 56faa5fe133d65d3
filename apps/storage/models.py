"""Folders of files that belong to an organisation: the code of a run, what it wrote."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class FolderKind(models.TextChoices):
    CODE = "code"
    OUTPUT = "output"


class Folder(TenantModel):
    """A folder on the platform's disk, named from its id. Code is never changed once a run uses it (`sealed`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=FolderKind)
    sealed = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    @property
    def relative_path(self) -> str:
        """Below the data root; what a workload's mount names."""
        return f"{self.organisation_id}/{self.kind}/{self.pk}"
