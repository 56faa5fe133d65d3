"""What an organisation keeps in the registry, and how much it may keep. Layers that images share count once."""

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.permissions import Permission
from apps.registry.distribution.ruled import set_own
from apps.registry.models import RegistryCapacity

GIB = 1024**3
MOST_GIB = 1024**2  # a pebibyte

_USED = """
SELECT organisation_id, sum(size) FROM (
    SELECT DISTINCT ON (organisation_id, digest) organisation_id, size FROM registry_manifestblob
    WHERE organisation_id = ANY(%s) ORDER BY organisation_id, digest, size DESC
) AS blobs GROUP BY organisation_id
"""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bytes. `own`: an operator set it for this organisation."""

    used: int
    limit: int
    own: bool = False

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


class OverCapacity(DomainError):
    """The organisation keeps as much in the registry as it may."""

    code = "registry_full"
    status = HTTPStatus.FORBIDDEN

    def __init__(self, capacity: Capacity, added: int = 0) -> None:
        self.capacity = capacity
        told = _("Your organisation has used %(used)s of %(limit)s in the image registry: nothing more can be pushed.")
        if added and capacity.left:
            told = _(
                "This image adds %(added)s to the image registry, and your organisation has used %(used)s of %(limit)s."
            )
        sizes = {"added": added, "used": capacity.used, "limit": capacity.limit}
        hint = _("Delete images that nobody needs, or ask the platform's administrators for more room.")
        super().__init__(told % {name: filesizeformat(size) for name, size in sizes.items()}, hint=hint)


def capacity_of(organisation_id: UUID) -> Capacity:
    return capacities([organisation_id])[organisation_id]


def capacities(organisation_ids: Iterable[UUID]) -> dict[UUID, Capacity]:
    """Of each of them, with two queries."""
    asked = list(organisation_ids)
    with connection.cursor() as cursor:
        cursor.execute(_USED, [asked])
        used = {organisation_id: int(size) for organisation_id, size in cursor.fetchall()}
    rows = RegistryCapacity.objects.filter(organisation_id__in=asked)
    own: dict[UUID, int] = dict(rows.values_list("organisation_id", "limit"))
    standard = settings.REGISTRY_ORGANISATION_BYTES
    return {each: Capacity(used.get(each, 0), own.get(each, standard), each in own) for each in asked}


def set_capacity(actor: Actor, *, organisation_id: UUID, gib: int | None) -> Capacity:
    """How much it may keep from now on; None: as the installation's setting says. What is there stays.

    Raises `Invalid`, `NotFound`.
    """
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    if gib is not None and not 0 <= gib <= MOST_GIB:
        raise Invalid.field("capacity_gib", _("Give a number of GiB from 0 to 1,048,576."))
    limit = None if gib is None else gib * GIB
    set_own(actor, RegistryCapacity, organisation_id, "limit", limit, action="registry.capacity_set", shown="bytes")
    return capacity_of(organisation_id)
