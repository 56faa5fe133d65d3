"""Arrays whose further lines are made of a run, which is not deleted meanwhile. One of `settings.RUN_USES`."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.training.deletion import Use
from apps.training.models import ArrayLine, Run


def unfinished_arrays(run: Run) -> list[Use]:
    line = run.array_line
    if line is None or not ArrayLine.objects.filter(array_id=line.array_id, due=True).exists():
        return []
    return [Use(_("Array"), line.array.name, reverse("training:array", args=[line.array_id]))]
