"""Closed sets of values of schedules, and their limits."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

LONGEST_NAME = 80
MOST_REFUSALS = 3
"""So many starts in a row that were refused; then the schedule pauses itself."""
MOST_SCHEDULES = 200
"""Of one person: each is looked at in every turn of the loop."""
SHOWN_MOMENTS = 5


class ScheduleStatus(models.TextChoices):
    ACTIVE = "active", pgettext_lazy("schedule", "Active")
    PAUSED = "paused", pgettext_lazy("schedule", "Paused")
    ENDED = "ended", pgettext_lazy("schedule", "Over")


class PauseReason(models.TextChoices):
    BY_PERSON = "by_person", _("Paused by hand")
    REFUSALS = "refusals", _("Paused by itself after several starts were refused")


class Overlap(models.TextChoices):
    """What happens at a moment at which the last run still lives."""

    SKIP = "skip", _("Skip this start")
    WAIT = "wait", _("Start once the last run has ended")
    REPLACE = "replace", _("Stop the last run, then start")


class Cause(models.TextChoices):
    TIME = "time", pgettext_lazy("start", "By time")
    HAND = "hand", pgettext_lazy("start", "By hand")


class StartStatus(models.TextChoices):
    WAITING = "waiting", pgettext_lazy("start", "Waiting")
    STARTED = "started", pgettext_lazy("start", "Started")
    SKIPPED = "skipped", pgettext_lazy("start", "Not started")


class Why(models.TextChoices):
    """Why a start was skipped. The first are by its owner's own rules, the others count as refused."""

    STILL_RUNNING = "still_running", _("The last run had not ended.")
    SUPERSEDED = "superseded", _("Another start of this schedule was waiting already.")
    PAUSED = "paused", _("The schedule was paused meanwhile.")
    FUNDS = "funds", _("The balance did not suffice.")
    QUOTA = "quota", _("The quota was used up.")
    RIGHTS = "rights", _("Its owner may not start training runs any more.")
    TEMPLATE = "template", _("What it starts does not exist any more, or its owner cannot see it.")
    IMAGE = "image", _("The image can no longer be used.")
    PACKAGE = "package", _("The package is not on offer any more.")
    SECRETS = "secrets", _("A secret can no longer be used.")
    DATA = "data", _("A volume or dataset can no longer be used.")
    OTHER = "other", _("It could not be submitted.")


REFUSALS = frozenset(set(Why) - {Why.STILL_RUNNING, Why.SUPERSEDED, Why.PAUSED})
