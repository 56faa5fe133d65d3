"""Closed sets of values of the clusters' tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class NodeStatus(models.TextChoices):
    READY = "ready", _("Ready")
    CORDONED = "cordoned", _("Cordoned")
    STALE = "stale", _("Not heard from")


class AcceleratorMode(models.TextChoices):
    """How one card is given out; the scheduler's modes by the same names."""

    WHOLE = "whole", _("Whole card")
    SHARED = "shared", _("Shared, not isolated")
    VGPU = "vgpu", _("vGPU, memory limited")
    MIG = "mig", _("MIG, hardware isolated")
