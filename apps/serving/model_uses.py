"""Services that a version of a model is used by: it is not deleted while one of them may start with it again."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.modelhub.models import ModelVersion
from apps.modelhub.uses import Use
from apps.serving.models import Service

MOST_NAMED = 20


def services_with(version: ModelVersion) -> list[Use]:
    """One of `settings.MODEL_USES`. Live replicas are named as live work besides."""
    rows = Service.objects.filter(versions__model=version, deleted_at__isnull=True).distinct().order_by("name")
    return [
        Use(
            _("Service"),
            service.name,
            reverse("serving:detail", args=[service.pk]),
            "rocket",
            service.owner.display_name,
        )
        for service in rows.select_related("owner")[:MOST_NAMED]
    ]
