"""Runs whose passports promise that they can run again in their image. One of `settings.IMAGE_USES`."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.registry.distribution.uses import MOST, Images, Use, pinned
from apps.training.models import Run
from apps.workloads.choices import LIVE


def passports(images: Images) -> list[Use]:
    """Of those that have ended: what lives is found by its workload."""
    rows = Run.objects.filter(pinned(images, "workload__spec"), deleted_at__isnull=True).exclude(
        workload__status__in=sorted(LIVE)
    )
    return [
        Use(
            _("Passport of a run"),
            run.workload.name,
            run.workload.spec["image"]["digest"],
            reverse("training:passport", args=[run.pk]),
            run.owner.display_name,
            run.organisation_id,
        )
        for run in rows.select_related("owner", "workload").order_by("-workload__created_at")[:MOST]
    ]
