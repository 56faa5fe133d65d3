"""What holds an organisation's quota: by state, by department and person, object by object."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.urls import reverse

from apps.modelhub.models import ModelVersion
from apps.storage.models import DatasetVersion, Volume
from apps.tenants import tree
from apps.tenants.choices import HolderKind, Resource
from apps.tenants.models import Holding, Quota
from apps.tenants.quotas import Line
from apps.workloads.choices import Status
from apps.workloads.kinds import kind_of
from apps.workloads.models import Workload

NOT_YET = (Status.QUEUED, Status.PLACED, Status.STARTING)


def holdings(
    organisation_id: UUID, *, department_id: UUID | None = None, user_id: int | None = None
) -> "QuerySet[Holding]":
    """Everything held under one level; a department's includes what is below it."""
    rows: QuerySet[Holding] = Holding.objects.filter(organisation_id=organisation_id)
    if department_id is not None:
        rows = rows.filter(department_id__in=tree.subtree(department_id))
    return rows if user_id is None else rows.filter(user_id=user_id)


def reserved(rows: "QuerySet[Holding]") -> dict[Line, int]:
    """The part of the holdings that waiting work has reserved and does not use yet."""
    waiting = Workload.objects.filter(status__in=NOT_YET).order_by().values("pk")
    held = rows.filter(holder_kind=HolderKind.WORKLOAD, holder_id__in=waiting).order_by()
    sums = held.values_list("resource", "model").annotate(total=Sum("amount"))
    return {(Resource(resource), model): total for resource, model, total in sums}


def holders(rows: "QuerySet[Holding]") -> dict[Line, int]:
    """How many objects hold each line."""
    counts = rows.order_by().values_list("resource", "model").annotate(n=Count("pk"))
    return {(Resource(resource), model): n for resource, model, n in counts}


def largest(organisation_id: UUID, resource: Resource, model: str, *, people: bool, most: int = 10) -> list[Quota]:
    """The largest holders of a resource: people, or departments."""
    level = Q(user__isnull=False) if people else Q(department__isnull=False)
    rows = Quota.objects.filter(level, organisation_id=organisation_id, resource=resource, model=model, used__gt=0)
    return list(rows.select_related("user", "department").order_by("-used")[:most])


@dataclass(frozen=True, slots=True)
class HolderName:
    """The name of an object that holds quota; no address if there is no page for the reader."""

    name: str
    state: str = ""
    url: str = ""


def holder_names(rows: Iterable[Holding], *, links: bool = True) -> dict[UUID, HolderName]:
    """Names of the holders of the rows, in one query for each kind."""
    ids: dict[str, list[UUID]] = {}
    for row in rows:
        ids.setdefault(row.holder_kind, []).append(row.holder_id)
    found: dict[UUID, HolderName] = {}
    workloads = Workload.objects.filter(pk__in=ids.get(HolderKind.WORKLOAD, []))
    for workload in workloads:
        url = reverse(kind_of(workload).page, args=[workload.pk]) if links else ""
        found[workload.pk] = HolderName(workload.name, workload.status, url)
    versions = DatasetVersion.objects.filter(pk__in=ids.get(HolderKind.DATASET, []))
    for version in versions.select_related("dataset"):
        found[version.pk] = HolderName(f"{version.dataset.name} v{version.number}")
    models = ModelVersion.objects.filter(pk__in=ids.get(HolderKind.MODEL, []))
    for model_version in models.select_related("model"):
        found[model_version.pk] = HolderName(f"{model_version.model.name} v{model_version.number}")
    for volume in Volume.objects.filter(pk__in=ids.get(HolderKind.VOLUME, [])):
        found[volume.pk] = HolderName(volume.name)
    return found
