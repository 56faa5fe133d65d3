"""Schedules that start a run again: it is not deleted meanwhile. One of `settings.RUN_USES`."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.schedules.models import Schedule
from apps.training.deletion import Use
from apps.training.models import Run


def repeating(run: Run) -> list[Use]:
    rows = Schedule.objects.filter(run=run).order_by("created_at")
    return [Use(_("Schedule"), row.name, reverse("schedules:detail", args=[row.pk])) for row in rows]
