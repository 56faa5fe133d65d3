"""What the models at an organisation's address are called, and where each name leads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django_scopes import scopes_disabled

from apps.serving.door.fresh import Fresh
from apps.serving.models import ModelName
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation

MOST_FALLBACKS = 5


@dataclass(frozen=True, slots=True)
class Named:
    """`label`: of the service's host. `upstream`: what the service calls the model. `created`: seconds since 1970."""

    name: str
    label: str
    upstream: str
    created: int
    fallback: str | None = None


Names = Mapping[str, Named]
Directory = Fresh[UUID, Names]


def read(organisation_id: UUID) -> Names | None:
    """None where there is no such organisation, or it is frozen."""
    with scopes_disabled():
        if not Organisation.objects.filter(pk=organisation_id, status=OrganisationStatus.ACTIVE).exists():
            return None
        rows = ModelName.objects.filter(organisation_id=organisation_id, service__deleted_at__isnull=True)
        return {row.name: _named(row) for row in rows.select_related("service", "fallback").order_by("name")}


def _named(row: ModelName) -> Named:
    fallback = row.fallback.name if row.fallback else None
    return Named(row.name, row.service.host, row.upstream or row.name, int(row.created_at.timestamp()), fallback)


def in_turn(names: Names, name: str) -> Iterator[Named]:
    """The name, then those that it falls back to; none twice."""
    seen: set[str] = set()
    wanted: str | None = name
    while wanted is not None and wanted not in seen and len(seen) <= MOST_FALLBACKS:
        seen.add(wanted)
        found = names.get(wanted)
        if found is None:
            return
        yield found
        wanted = found.fallback
