"""Closed sets of values of the queue's tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class PreemptionWhy(models.TextChoices):
    """By what right one task takes another's place. The values are the scheduler's."""

    HIGHER_PRIORITY = "higher_priority", _("Higher priority in the same organisation")
    GUARANTEE = "guarantee", _("Another organisation's guarantee")


class PreemptionOutcome(models.TextChoices):
    ASKED = "asked", _("Asked to give way")
    REQUEUED = "requeued", _("Saved and queued again, first in line")
    FINISHED = "finished", _("Ended by itself before")
    CALLED_OFF = "called_off", _("Called off: the room was no longer needed")
