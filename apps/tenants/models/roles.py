"""Roles beyond the base ones: sets of named permissions."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel
from apps.tenants.models.organisations import Organisation


class OrganisationRole(TenantModel):
    """A role that an organisation defined for its own people. `permissions`: names from `Permission`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="own_roles")
    name = models.CharField(_("name"), max_length=60)
    permissions = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="organisation_role_name_once")]

    def __str__(self) -> str:
        return self.name


class DefinedPlatformRole(models.Model):
    """A role for the platform's staff that was defined here. `permissions`: names that begin with `platform.`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=60, unique=True)
    permissions = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
