"""Pipelines that start a run again, or whose step it is while they run: it is not deleted meanwhile."""

from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.pipelines.choices import OPEN
from apps.pipelines.models import Pipeline, PipelineRun
from apps.training.deletion import Use
from apps.training.models import Run


def pipelines(run: Run) -> list[Use]:
    """One of `settings.RUN_USES`."""
    repeating = Pipeline.objects.filter(
        versions__templates__run=run, versions__number=F("newest"), deleted_at__isnull=True
    )
    running = PipelineRun.objects.filter(version__templates__run=run) | PipelineRun.objects.filter(steps__run=run)
    rows = running.filter(status__in=sorted(OPEN)).select_related("pipeline").distinct().order_by("pk")
    return [
        *(
            Use(_("Pipeline"), each.name, reverse("pipelines:detail", args=[each.pk]))
            for each in repeating.distinct().order_by("pk")
        ),
        *(
            Use(
                _("Run of a pipeline"), f"{each.pipeline.name} #{each.number}", reverse("pipelines:run", args=[each.pk])
            )
            for each in rows
        ),
    ]
