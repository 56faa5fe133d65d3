"""Work that has not ended and names a secret: read from the frozen specs. One of `settings.SECRET_USES`."""

from uuid import UUID

from django.urls import reverse

from apps.secrets.uses import Use
from apps.workloads import kinds
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Workload


def live(secret_id: UUID) -> list[Use]:
    """It has the value once it runs; before, it is not started without the secret."""
    rows = Workload.objects.filter(status__in=LIVE, spec__secrets__contains=[{"secret": str(secret_id)}])
    return [_use(each) for each in rows.select_related("owner").order_by("queued_at")]


def _use(workload: Workload) -> Use:
    rules = kinds.kind_of(workload)
    has_it = workload.status in (Status.STARTING, Status.RUNNING, Status.STOPPING)
    page = reverse(rules.page, args=[workload.pk])
    return Use(str(rules.label), workload.name, page, workload.owner.display_name, has_it)
