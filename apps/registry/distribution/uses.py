"""Who needs an image of the registry: what runs or waits in it, and the runs whose passports name it."""

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Q, QuerySet
from django_scopes import scopes_disabled

from apps.registry.models import ImageRepository
from apps.workloads.choices import LIVE
from apps.workloads.models import Workload


def live_uses(repository: ImageRepository) -> QuerySet[Workload]:
    """What lives in one of its images, as far as the scope reaches, newest first."""
    rows = Workload.objects.filter(status__in=sorted(LIVE), spec__image__repository=_full_name(repository.name))
    return rows.select_related("owner").order_by("-created_at")


def is_needed(repository: str, digests: Iterable[str]) -> bool:
    """Whether any organisation's work runs in one of these, or ran: its passport promises that it can run again."""
    wanted = Q()
    for digest in digests:
        wanted |= Q(spec__image__contains={"repository": _full_name(repository), "digest": digest})
    if not wanted:
        return False
    with scopes_disabled():
        return Workload.objects.filter(wanted).exists()


def _full_name(repository: str) -> str:
    return f"{settings.REGISTRY_HOST}/{repository}"
