"""Invitations into an organisation, by link or by e-mail."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.choices import Role
from apps.tenants.models.organisations import Department, Organisation
from apps.tenants.models.people import User
from apps.tenants.models.roles import OrganisationRole


class Invitation(TenantModel):
    """A link that makes whoever holds it a member; with `email`, only the person who proves that address.

    Only the token's SHA-256 is kept: the link is shown, or sent, once.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="invitations")
    department = models.ForeignKey(Department, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    role = models.CharField(max_length=16, choices=Role, default=Role.MEMBER)
    own_role = models.ForeignKey(OrganisationRole, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    email = models.EmailField(blank=True)
    digest = models.CharField(max_length=64, unique=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["organisation", "-expires_at"], name="invitation_latest")]
        constraints = [
            models.CheckConstraint(condition=models.Q(uses__lte=models.F("max_uses")), name="invitation_uses_within")
        ]
