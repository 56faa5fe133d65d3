"""What the platform's administrators set in the console."""

from django.db import models
from django.db.models.functions import Now


class PlatformSetting(models.Model):
    """One group of settings by its key. `sealed` holds its secrets, encrypted (see `apps.common.sealing`)."""

    key = models.SlugField(primary_key=True, max_length=40)
    value = models.JSONField(default=dict)
    sealed = models.BinaryField(null=True)
    updated_at = models.DateTimeField(db_default=Now())
