"""Closed sets of values of what-if's tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ScenarioStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Replaying")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


OPEN = frozenset({ScenarioStatus.QUEUED, ScenarioStatus.RUNNING})


class Source(models.TextChoices):
    """The source of the arrivals."""

    HISTORY = "history", _("The platform's own past")
    SAMPLE = "sample", _("Sample trace")
    TRACE = "trace", _("Uploaded trace")


class Hardware(models.TextChoices):
    """The hardware on which side A replays them."""

    REAL = "real", _("The nodes as they are")
    SIMULATED = "simulated", _("The simulated nodes")
    PLAIN = "plain", _("Plain nodes of eight cards")


class ChangeKind(models.TextChoices):
    """What side B may change."""

    GUARANTEE = "guarantee", _("Guarantee of an organisation")
    WEIGHT = "weight", _("Weight of an organisation")
    PRIORITY = "priority", _("Priority of a person")
    PRICE = "price", _("Price of a package")
    MIN_RUNTIME = "min_runtime", _("Minimum run time")
    MODE = "mode", _("Mode of a node's cards")
    NODE_ADD = "node_add", _("More nodes")
    NODE_REMOVE = "node_remove", _("A node less")
