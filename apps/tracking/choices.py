"""The status of what a client of MLflow began as a run, by its own words."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class RunStatus(models.TextChoices):
    RUNNING = "RUNNING", _("Running")
    SCHEDULED = "SCHEDULED", _("Waiting")
    FINISHED = "FINISHED", _("Finished")
    FAILED = "FAILED", _("Failed")
    KILLED = "KILLED", _("Stopped")
