"""What an organisation keeps in the registry, and how much it may keep. Layers that images share count once."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.permissions import Permission
from apps.registry.choices import OPEN_SAVINGS, OPEN_TRANSFERS
from apps.registry.distribution.ruled import set_own
from apps.registry.models import ImageSaving, ImageTransfer, RegistryCapacity

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
    """Bytes. `own`: an operator set it for this organisation. `reserved`: for images that are on their way."""

    used: int
    limit: int
    own: bool = False
    reserved: int = 0

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used - self.reserved)


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
        sizes = {"added": added, "used": capacity.used + capacity.reserved, "limit": capacity.limit}
        hint = _("Delete images that nobody needs, or ask the platform's administrators for more room.")
        if capacity.reserved:
            told = _(
                "Your organisation has used or reserved %(used)s of %(limit)s in the image registry: this does not fit."
            )
            hint = _("Wait for the images that are on their way, cancel one, or delete images that nobody needs.")
        super().__init__(told % {name: filesizeformat(size) for name, size in sizes.items()}, hint=hint)


def lock_capacity(organisation_id: UUID) -> None:
    """Whoever reserves room does it alone, to the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"registry capacity {organisation_id}"]
        )


def capacity_of(organisation_id: UUID, *, besides: Collection[UUID] = ()) -> Capacity:
    """`besides`: transfers and savings whose own room does not count as reserved."""
    return capacities([organisation_id], besides=besides)[organisation_id]


def capacities(organisation_ids: Iterable[UUID], *, besides: Collection[UUID] = ()) -> dict[UUID, Capacity]:
    """Of each of them, with four queries."""
    asked = list(organisation_ids)
    with connection.cursor() as cursor:
        cursor.execute(_USED, [asked])
        used = {organisation_id: int(size) for organisation_id, size in cursor.fetchall()}
    rows = RegistryCapacity.objects.filter(organisation_id__in=asked)
    own: dict[UUID, int] = dict(rows.values_list("organisation_id", "limit"))
    reserved: Counter[UUID] = Counter()
    for model, open_ones in ((ImageTransfer, OPEN_TRANSFERS), (ImageSaving, OPEN_SAVINGS)):
        coming = model.objects.filter(organisation_id__in=asked, status__in=sorted(open_ones), added_bytes__gt=0)
        sums = coming.exclude(pk__in=besides).order_by().values_list("organisation_id").annotate(Sum("added_bytes"))
        reserved.update(dict(sums))
    standard = settings.REGISTRY_ORGANISATION_BYTES
    return {each: Capacity(used.get(each, 0), own.get(each, standard), each in own, reserved[each]) for each in asked}


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
