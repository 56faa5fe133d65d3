"""Experiments that tune a run, or whose trial it is, and have not ended: it is not deleted meanwhile."""

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.automl.choices import OPEN
from apps.automl.models import Experiment
from apps.training.deletion import Use
from apps.training.models import Run


def open_experiments(run: Run) -> list[Use]:
    """One of `settings.RUN_USES`."""
    rows = Experiment.objects.filter(Q(template=run) | Q(trials__run=run), status__in=sorted(OPEN)).distinct()
    return [Use(_("Experiment"), row.name, reverse("tuning:detail", args=[row.pk])) for row in rows.order_by("pk")]
