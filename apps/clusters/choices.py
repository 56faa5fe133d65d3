"""Closed sets of values of the clusters' tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class NodeStatus(models.TextChoices):
    READY = "ready", _("Ready")
    CORDONED = "cordoned", _("Cordoned")
    DRAINING = "draining", _("Draining")
    # Of a node that is shown; its own column never has these.
    STALE = "stale", _("Not heard from")
    LOST = "lost", pgettext_lazy("node", "Lost")
    QUARANTINED = "quarantined", _("In quarantine")


# Nothing new is placed on a node in these.
CLOSED = (NodeStatus.CORDONED, NodeStatus.DRAINING)


class Quarantine(models.TextChoices):
    """Why the platform itself gives a node no work (`clusters.node_quarantine`)."""

    UNPROVED = "unproved", _("Not proved yet")
    FILES = "files", _("Does not see the platform's files")
    UNREACHED = "unreached", _("Could not be tried")
    LOSES_WORK = "loses_work", _("Loses work")


# What a check-up of the node's cluster proves or disproves.
UNPROVED = (Quarantine.UNPROVED, Quarantine.FILES, Quarantine.UNREACHED)


class DrainAction(models.TextChoices):
    """What happens to the work that is still on a draining node at its deadline."""

    REQUEUE = "requeue", _("Queue it again")
    STOP = "stop", _("Stop it")


class StorageKind(models.TextChoices):
    """How the machines of a zone come to the platform's files."""

    FOLDER = "folder", _("A shared folder, however it is mounted")
    NFS = "nfs", _("NFS")


class CheckupStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Examining")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


OPEN_CHECKUPS = frozenset({CheckupStatus.QUEUED, CheckupStatus.RUNNING})


class AcceleratorMode(models.TextChoices):
    """How one card is given out; the scheduler's modes by the same names."""

    WHOLE = "whole", _("Whole card")
    SHARED = "shared", _("Shared, not isolated")
    VGPU = "vgpu", _("vGPU, memory limited")
    MIG = "mig", _("MIG, hardware isolated")


class Limiter(models.TextChoices):
    """What limits a vGPU slice to its memory on the card's machine; without one there are no such slices."""

    NONE = "", _("Nothing")
    HAMI = "hami", _("HAMi-core")
    MPS = "mps", _("MPS")
    VENDOR = "vendor", _("The vendor's templates")
    SIMULATED = "simulated", _("Nothing: simulated")
