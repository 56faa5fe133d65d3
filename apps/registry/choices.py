"""Choices of the registry's models."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CollectionProblem(models.TextChoices):
    """Why a collection removed nothing, or not all. The first three are what `plstack.launch.collecting` answers."""

    BUSY = "busy", _("images were pushed or pulled all the time")
    FAILED = "failed", _("the registry's own collection failed; its log says why")
    STUCK = "stuck", _("the registry did not come back in time")
    UNANSWERED = "unanswered", _("nobody answered: the registry is not one that the platform runs")
