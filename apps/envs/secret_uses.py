"""Environments that are given a secret each time they start. One of `settings.SECRET_USES`."""

from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.envs.models import Environment
from apps.secrets.uses import Use


def resting(secret_id: UUID) -> list[Use]:
    """Those that do not run now: what runs is found by its workload."""
    rows = Environment.objects.filter(deleted_at__isnull=True, secrets__contains=[{"secret": str(secret_id)}])
    return [
        Use(_("Environment"), each.name, reverse("envs:detail", args=[each.pk]), each.owner.display_name)
        for each in rows.select_related("owner", "workload").order_by("name")
        if each.workload is None or not each.workload.is_live
    ]
