"""Which live workloads mount a folder: read from their frozen specs, which are always right about it."""

from django.db.models import QuerySet

from apps.workloads.choices import LIVE
from apps.workloads.models import Workload


def live_mounts(relative_path: str, *, writing: bool = False) -> QuerySet[Workload]:
    """Workloads that have not ended and mount the folder (with `writing`: those that may write to it)."""
    wanted = {"source": relative_path} | ({"read_only": False} if writing else {})
    rows: QuerySet[Workload] = Workload.objects.filter(status__in=LIVE, spec__mounts__contains=[wanted])
    return rows.select_related("owner")


def written_folders() -> set[str]:
    """Relative paths of all folders that live workloads may be writing to."""
    specs = Workload.objects.filter(status__in=LIVE).values_list("spec__mounts", flat=True)
    return {mount["source"] for mounts in specs for mount in mounts or () if not mount["read_only"]}
