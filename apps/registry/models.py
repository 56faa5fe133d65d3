"""What work runs in: on the local driver a Python runtime, built from pinned requirements on first use."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import get_language


class Image(models.Model):
    """A platform image. `requirements` are exact pins; what they resolve to is the runtime's identity."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(unique=True)
    name = models.CharField(max_length=60)
    description_en = models.CharField(max_length=200)
    description_zh = models.CharField(max_length=200)
    requirements = models.JSONField(default=list)
    active = models.BooleanField(default=True)
    sort = models.PositiveSmallIntegerField(default=100)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["sort", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def description(self) -> str:
        return self.description_zh if (get_language() or "").startswith("zh") else self.description_en
