"""Closed sets of values of the kernel's tables, and the name of a kind, which is open: see `kinds`."""

from typing import NewType

from django.db import models
from django.utils.translation import gettext_lazy as _

Kind = NewType("Kind", str)
"""The name of what a workload is to the person who started it: `KindRules.name`."""


class Desired(models.TextChoices):
    RUNNING = "running", _("Running")
    STOPPED = "stopped", _("Stopped")


class Status(models.TextChoices):
    QUEUED = "queued", _("Queued")
    PLACED = "placed", _("Placed")
    STARTING = "starting", _("Starting")
    RUNNING = "running", _("Running")
    STOPPING = "stopping", _("Stopping")
    SUCCEEDED = "succeeded", _("Finished")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Stopped")


TERMINAL = frozenset({Status.SUCCEEDED, Status.FAILED, Status.STOPPED})
LIVE = frozenset(set(Status) - TERMINAL)
# On a node, holding its resources.
PLACED = frozenset({Status.PLACED, Status.STARTING, Status.RUNNING, Status.STOPPING})


class Reason(models.TextChoices):
    """Why a workload has its status, beyond the scheduler's causes for waiting. Words: `faults.py`."""

    NONE = "", _("None")
    SUBMITTED = "submitted", _("Waiting for the scheduler")
    FINISHED = "finished", _("Finished")
    BY_PERSON = "by_person", _("Stopped by a person")
    ARREARS = "arrears", _("Stopped because the balance ran out")
    CAP = "cap", _("Stopped at its spending cap")
    PREPAID = "prepaid", _("Stopped when its prepaid time ended")
    LONGEST = "longest", _("Stopped at its longest run time")
    GPU_IDLE = "gpu_idle", _("Stopped because its GPU was not used")
    TIMED = "timed", _("Stopped at the time that was set")
    IDLE = "idle", _("Released after being idle")
    EXPIRED = "expired", _("Stopped when its time had run out")
    RECYCLED = "recycled", _("Stopped to be moved into the recycle bin")
    DRAINED = "drained", _("Taken off a machine that was being emptied")
    RDMA_DOWN = "rdma_down", _("The RDMA link of its machine had gone down")
    PREEMPTED = "preempted", _("It gave way to other work")
    CHANGED = "changed", _("Stopped to start again with changed settings")
    SCALED = "scaled", _("Stopped because fewer replicas are wanted")
    PRUNED = "pruned", _("Stopped early because other trials do better")
    EXIT_CODE = "exit_code", _("The program ended with an error")
    SIGNAL = "signal", _("The program was ended by a signal")
    OUT_OF_MEMORY = "out_of_memory", _("Out of memory")
    DISK_LIMIT = "disk_limit", _("Too much on disk")
    FILE_LIMIT = "file_limit", _("Too many files on disk")
    DISK_FULL = "disk_full", _("The machine's disk was full")
    IMAGE_FAILED = "image_failed", _("The runtime could not be prepared")
    MOUNT_FAILED = "mount_failed", _("The files could not be mounted")
    START_FAILED = "start_failed", _("The program could not be started")
    REFUSED = "refused", _("The node refused the work")
    LOST = "lost", _("The node lost the work")
    ISOLATION = "isolation", _("The machine is reserved for another organisation")
    UNAUTHORISED = "unauthorised", _("Its owner may not run it any more")
    MOUNT_LOST = "mount_lost", _("Its owner may not use its files any more")
    SECRET_LOST = "secret_lost", _("Its owner may not use its secrets any more")
    IMAGE_BLOCKED = "image_blocked", _("The policy about vulnerabilities does not let its image start")


# Why a workload waits that its app holds back: a cause beside the scheduler's.
HELD_BACK = "held_back"

# Stopped by what its owner had set or chosen, not because somebody pressed "stop".
BY_RULE = frozenset(
    {
        *(Reason.LONGEST, Reason.GPU_IDLE, Reason.TIMED, Reason.IDLE, Reason.EXPIRED, Reason.RECYCLED),
        *(Reason.CHANGED, Reason.SCALED, Reason.PRUNED),
    }
)


# Stopped before a start, because what it needs has ended, or been refused, since it was submitted.
NOT_STARTED = frozenset({Reason.UNAUTHORISED, Reason.MOUNT_LOST, Reason.SECRET_LOST, Reason.IMAGE_BLOCKED})


class RightLost(models.TextChoices):
    """What its owner lacks when a workload is about to start."""

    MEMBERSHIP = "membership", _("Its owner does not belong to the organisation any more.")
    ACCOUNT = "account", _("The account of its owner is disabled.")
    ROLE = "role", _("The role of its owner does not allow this kind of work any more.")
    FROZEN = "frozen", _("The organisation is frozen.")
    IMAGE = "image", _("Its owner may not pull its container image any more.")
    IMAGE_SHARE = "image_share", _("Its container image is not shared with your organisation any more.")


class Fault(models.TextChoices):
    """Whose matter a failure is."""

    NOBODY = "", _("Nobody")
    USER = "user", _("Your program")
    PLATFORM = "platform", _("The platform")
    NODE = "node", _("The node")


# Work that is lost by these is credited without being asked for.
CREDITED = frozenset({Fault.PLATFORM, Fault.NODE})


class PreemptionWhy(models.TextChoices):
    """By what right one task takes another's place. The values are the scheduler's."""

    HIGHER_PRIORITY = "higher_priority", _("Higher priority in the same organisation")
    GUARANTEE = "guarantee", _("Another organisation's guarantee")


class PreemptionOutcome(models.TextChoices):
    ASKED = "asked", _("Asked to give way")
    REQUEUED = "requeued", _("Saved and queued again, first in line")
    FINISHED = "finished", _("Ended by itself before")
    CALLED_OFF = "called_off", _("Called off: the room was no longer needed")


class Source(models.TextChoices):
    """The way in by which a workload is used."""

    GATEWAY = "gateway", _("Browser")
    SSH = "ssh", _("SSH")
    TERMINAL = "terminal", _("Terminal")
