"""Closed sets of values of the storage tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class FolderKind(models.TextChoices):
    CODE = "code"
    OUTPUT = "output"
    HOME = "home"  # of an environment
    DRAFT = "draft"  # files on their way into a dataset version
    RESUME = "resume"  # a checkpoint that a run goes on from
    ARCHIVE = "archive"  # an image's, on its way into the registry


class RootKind(models.TextChoices):
    """What a tree of files belongs to; part of its address."""

    VOLUME = "volume", _("Volume")
    FOLDER = "folder", _("Folder")
    VERSION = "version", _("Dataset version")
    MODEL = "model", _("Model version")


class Clash(models.TextChoices):
    """What to do where the name is taken already."""

    KEEP_BOTH = "keep_both", _("Keep both")
    REPLACE = "replace", _("Replace")
    SKIP = "skip", _("Skip")


class Right(models.TextChoices):
    """What a share allows; writing includes reading."""

    READ = "read", pgettext_lazy("right", "Read")
    WRITE = "write", _("Read and write")


class JobKind(models.TextChoices):
    COPY = "copy", _("Copy")
    MOVE = "move", _("Move")
    UNPACK = "unpack", _("Unpack")
    VERSION = "version", _("Dataset version")
    MODEL = "model", _("Model version")


class JobStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Done")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Cancelled")


OPEN_JOBS = frozenset({JobStatus.QUEUED, JobStatus.RUNNING})
