"""Closed sets of values of the gateway's tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Source(models.TextChoices):
    """The way in by which a workload is used."""

    GATEWAY = "gateway", _("Browser")
    SSH = "ssh", _("SSH")
