"""How machines join by themselves; in a module of its own, and one of `clusters.models`."""

import uuid

from django.db import models
from django.db.models.functions import Now


class JoinToken(models.Model):
    """The right to add machines to a cluster, for a while. Only the digest of the token is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey("clusters.LogicalCluster", on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    uses_left = models.PositiveSmallIntegerField(default=1)
    expires_at = models.DateTimeField()
    made_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
