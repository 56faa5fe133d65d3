"""Closed sets of values of the tables of pipelines."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

LONGEST_NAME = 80


class RunStatus(models.TextChoices):
    RUNNING = "running", _("Running")
    ENDING = "ending", _("Ending")
    SUCCEEDED = "succeeded", _("Finished")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


OPEN = frozenset({RunStatus.RUNNING, RunStatus.ENDING})


class EndReason(models.TextChoices):
    """Why a pipeline's run was ended before all of its steps had an outcome; `NONE` where they all have."""

    NONE = "", _("None")
    BY_PERSON = "by_person", _("Stopped by a person")
    BUDGET = "budget", _("The budget does not pay for another step")
    OWNER_LOST = "owner_lost", _("Its owner may not run it any more")


class StepStatus(models.TextChoices):
    WAITING = "waiting", pgettext_lazy("step", "Waiting")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Finished")
    FAILED = "failed", _("Failed")
    SKIPPED = "skipped", pgettext_lazy("step", "Left out")
    STOPPED = "stopped", _("Stopped")


LIVE = frozenset({StepStatus.WAITING, StepStatus.RUNNING})


class Why(models.TextChoices):
    """Why a step has ended otherwise than by its program alone. Words: `words.py`."""

    NONE = "", _("None")
    CONDITION = "condition", _("A condition did not hold")
    UNMEASURED = "unmeasured", _("A metric was never said")
    REFUSED = "refused", _("Its run could not be started")
    PIPELINE = "pipeline", _("The pipeline was ended")


class Hurdle(models.TextChoices):
    """Why no step can be started now; it is tried again by itself."""

    NONE = "", _("None")
    QUOTA = "quota", _("The quota is used up")
    FUNDS = "funds", _("The balance does not suffice")
    BUDGET = "budget", _("What is left of the budget is reserved for steps that run")
    FROZEN = "frozen", _("The organisation is frozen")
    UNAVAILABLE = "unavailable", _("Something that the platform needs cannot be reached")


class Cause(models.TextChoices):
    """What started a pipeline."""

    HAND = "hand", pgettext_lazy("start", "By hand")
    TIME = "time", pgettext_lazy("start", "By time")
    DATASET = "dataset", pgettext_lazy("start", "By a new dataset version")
    HOOK = "hook", pgettext_lazy("start", "By its webhook")
    API = "api", pgettext_lazy("start", "By the API")
