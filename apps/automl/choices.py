"""Closed sets of values of tuning's tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ExperimentStatus(models.TextChoices):
    RUNNING = "running", _("Running")
    ENDING = "ending", _("Ending")
    SUCCEEDED = "succeeded", _("Finished")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Stopped")


OPEN = frozenset({ExperimentStatus.RUNNING, ExperimentStatus.ENDING})


class EndReason(models.TextChoices):
    """Why an experiment ends, or has ended. The status that follows: `states.OUTCOMES`."""

    NONE = "", _("None")
    ALL_TRIALS = "all_trials", _("All its trials are done")
    GOAL = "goal", _("A trial reached the goal")
    EXHAUSTED = "exhausted", _("Every point of the space was tried")
    BY_PERSON = "by_person", _("Stopped by a person")
    BUDGET = "budget", _("The budget does not pay for another trial")
    FAILED_TRIALS = "failed_trials", _("Too many trials failed")
    TEMPLATE_LOST = "template_lost", _("Its run cannot be started any more")
    OWNER_LOST = "owner_lost", _("Its owner may not run it any more")
    SEARCH_FAILED = "search_failed", _("The search found no next trial")


class TrialStatus(models.TextChoices):
    """`UNMEASURED`: its program ended well and never said the metric that is searched by."""

    WAITING = "waiting", _("To be started")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Finished")
    PRUNED = "pruned", _("Stopped early")
    FAILED = "failed", _("Failed")
    UNMEASURED = "unmeasured", _("Metric missing")
    STOPPED = "stopped", _("Stopped")


LIVE = frozenset({TrialStatus.WAITING, TrialStatus.RUNNING})
COUNTED_AS_FAILED = frozenset({TrialStatus.FAILED, TrialStatus.UNMEASURED})


class ResumePolicy(models.TextChoices):
    """What may become of an experiment that has ended. The names are Katib's."""

    LONG_RUNNING = "LongRunning", _("Go on at any time")
    FROM_VOLUME = "FromVolume", _("Go on, also in another experiment")
    NEVER = "Never", _("Final once it has ended")


class Hurdle(models.TextChoices):
    """Why no trial can be started now; it is tried again by itself."""

    NONE = "", _("None")
    QUOTA = "quota", _("The quota is used up")
    FUNDS = "funds", _("The balance does not suffice")
    BUDGET = "budget", _("What is left of the budget is reserved for trials that run")
    FROZEN = "frozen", _("The organisation is frozen")
    UNAVAILABLE = "unavailable", _("Something that the platform needs cannot be reached")
    PARENTS = "parents", _("The next generation waits until the last one is done")
