"""Choices of the registry's models."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class CollectionProblem(models.TextChoices):
    """Why a collection removed nothing, or not all. The first three are what `plstack.launch.collecting` answers."""

    BUSY = "busy", _("images were pushed or pulled all the time")
    FAILED = "failed", _("the registry's own collection failed; its log says why")
    STUCK = "stuck", _("the registry did not come back in time")
    UNANSWERED = "unanswered", _("nobody answered: the registry is not one that the platform runs")


class TransferKind(models.TextChoices):
    """Where an image comes from."""

    ADDRESS = "address", _("Address")
    ARCHIVE = "archive", pgettext_lazy("of an image", "Archive")


class TransferStatus(models.TextChoices):
    """From being asked for to its end. FINISHING: all layers are here, and the tag is being set, which nobody stops.

    UPLOADING and CHOOSING wait for a person: that the archive comes, and which of its images is meant.
    """

    UPLOADING = "uploading", _("Uploading")
    CHOOSING = "choosing", _("Your choice")
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    FINISHING = "finishing", _("Finishing")
    SUCCEEDED = "succeeded", _("Finished")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Cancelled")


WORKED_ON = frozenset({TransferStatus.QUEUED, TransferStatus.RUNNING, TransferStatus.FINISHING})
WAITING_FOR_PEOPLE = frozenset({TransferStatus.UPLOADING, TransferStatus.CHOOSING})
OPEN_TRANSFERS = WORKED_ON | WAITING_FOR_PEOPLE


class TransferProblem(models.TextChoices):
    """Why an image did not come. The words for people, with their parameters, are in `transfers.words`."""

    NOT_THERE = "not_there"
    NO_RIGHT = "no_right"
    SOURCE_REFUSES = "source_refuses"
    OTHER_ARCHITECTURE = "other_architecture"
    ADDRESS_REFUSED = "address_refused"
    CERTIFICATE = "certificate"
    INTERRUPTED = "interrupted"
    OVER_CAPACITY = "over_capacity"
    TOO_LARGE = "too_large"
    TOO_MANY_LAYERS = "too_many_layers"
    TOO_MANY_IMAGES = "too_many_images"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    DISK_FULL = "disk_full"
    REGISTRY_AWAY = "registry_away"
    MAY_NOT_PUSH = "may_not_push"
    GAVE_UP = "gave_up"
    TOO_SLOW = "too_slow"
    NOT_AN_ARCHIVE = "not_an_archive"
    NO_IMAGE = "no_image"
    TRUNCATED = "truncated"
    INCOMPLETE = "incomplete"
    WRONG_DIGEST = "wrong_digest"
    HOSTILE = "hostile"
    BOMB = "bomb"
    LEFT_ALONE = "left_alone"


class SavingStatus(models.TextChoices):
    """Of work that is saved as an image: asked for, written by its machine and on its way, and how it ended."""

    QUEUED = "queued", pgettext_lazy("of an image", "Being saved")
    SENDING = "sending", _("On its way to the registry")
    SUCCEEDED = "succeeded", _("In the registry")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Cancelled")


OPEN_SAVINGS = frozenset({SavingStatus.QUEUED, SavingStatus.SENDING})


class SavingProblem(models.TextChoices):
    """Why it did not get into the registry. The words for people are in `saving.words`."""

    NOT_RUNNING = "not_running"
    NOT_SAVED = "not_saved"
    OVER_CAPACITY = "over_capacity"
    REPOSITORY_GONE = "repository_gone"
    MAY_NOT_PUSH = "may_not_push"
    TAG_TAKEN = "tag_taken"
    NOT_TAKEN = "not_taken"
    TOO_LONG_AWAY = "too_long_away"
    GAVE_UP = "gave_up"
