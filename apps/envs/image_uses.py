"""Environments that start in a container image again. One of `settings.IMAGE_USES`."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.envs.models import Environment
from apps.registry.distribution.uses import MOST, Images, Use


def kept(images: Images) -> list[Use]:
    """Those in the recycle bin too: they may come back."""
    rows = Environment.objects.filter(image__reference__in=images.references).select_related("owner", "image")
    return [
        Use(
            _("Environment"),
            each.name,
            each.image.reference.partition("@")[2],
            reverse("envs:detail", args=[each.pk]),
            each.owner.display_name,
            each.organisation_id,
        )
        for each in rows.order_by("-created_at")[:MOST]
    ]
