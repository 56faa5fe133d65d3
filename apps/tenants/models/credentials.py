"""What a person's programs sign in with: API tokens and SSH keys."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.tenants.models.organisations import Organisation
from apps.tenants.models.people import User


class ApiToken(models.Model):
    """A bearer token of one person for one organisation, or for the console (`organisation` empty).

    Only its SHA-256 is kept; `prefix` tells tokens apart in lists. It may do what is both in `permissions` and, at that
    moment, among the person's own rights.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(_("name"), max_length=60)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    permissions = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]


class SshKey(models.Model):
    """A public key of one person, in OpenSSH's one-line form; `fingerprint` is `SHA256:…`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="ssh_keys")
    name = models.CharField(_("name"), max_length=60)
    public_key = models.TextField(_("public key"))
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["user", "fingerprint"], name="ssh_key_once")]
