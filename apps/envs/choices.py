"""Closed sets of values of the environments' tables, and what an environment shows as its state."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.workloads.choices import Kind

KIND = Kind("environment")


class State(models.TextChoices):
    """The state that a person sees. Never stored: derived from the newest workload, the bin and the expiry."""

    STOPPED = "stopped", _("Stopped")
    QUEUED = "queued", _("Queued")
    STARTING = "starting", _("Starting")
    RUNNING = "running", _("Running")
    STOPPING = "stopping", _("Stopping")
    RELEASED = "released", pgettext_lazy("environment", "Released")
    EXPIRED = "expired", pgettext_lazy("environment", "Expired")
    FAILED = "failed", _("Failed")
    BINNED = "binned", _("In the recycle bin")


# The newest workload has not ended.
LIVE_STATES = frozenset({State.QUEUED, State.STARTING, State.RUNNING, State.STOPPING})


class SnapshotKind(models.TextChoices):
    MANUAL = "manual", pgettext_lazy("snapshot", "Manual")
    AUTOMATIC = "automatic", pgettext_lazy("snapshot", "Automatic")
    BEFORE_RELEASE = "before_release", pgettext_lazy("snapshot", "Before release")
    BEFORE_CHANGE = "before_change", pgettext_lazy("snapshot", "Before a change")
    AT_STOP = "at_stop", pgettext_lazy("snapshot", "When stopped")


class Step(models.TextChoices):
    """A running operation on an environment that takes longer than a request."""

    SNAPSHOT = "snapshot", _("Taking a snapshot")
    STOP = "stop", _("Saving, then stopping")
    RELEASE = "release", _("Saving, then releasing")
    RESTORE = "restore", _("Restoring files")
    RESTART = "restart", _("Restarting with the new settings")


class StepStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class Busy(models.TextChoices):
    """Why an environment is not idle."""

    STARTED = "started", _("it has just started")
    KEPT = "kept", _("somebody asked to keep it")
    KERNEL = "kernel", _("a notebook is computing")
    TERMINAL = "terminal", _("a terminal is in use")
    INPUT = "input", _("somebody is working in it")
    CPU = "cpu", _("a program is computing")
    GPU = "gpu", _("the GPU is in use")
    UNSEEN = "unseen", _("nobody can see whether it is in use")
