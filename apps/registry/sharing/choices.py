"""What a share is just now."""

from django.db import models
from django.utils.translation import pgettext_lazy


class ShareState(models.TextChoices):
    """RESTING: one of the organisations is frozen, or the operator allows no sharing at present."""

    ACTIVE = "active", pgettext_lazy("share", "Active")
    DECLINED = "declined", pgettext_lazy("share", "Declined")
    ENDED = "ended", pgettext_lazy("share", "Expired")
    RESTING = "resting", pgettext_lazy("share", "Not usable at present")
