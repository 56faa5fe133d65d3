"""Say how the machines of a zone come to the platform's files."""

import re
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.choices import StorageKind
from apps.clusters.models import Zone, ZoneStorage
from apps.clusters.services.quarantine import quarantine_zone
from apps.clusters.services.zones import locked_zone
from apps.clusters.storage_checks import storage_of_zone
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission

# `server:/path`: a name or an IPv4 address, or an IPv6 one in brackets. It becomes part of a command that is shown.
_SOURCE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):/[^\s\x00-\x1f]*", re.ASCII)
LONGEST = 200
MOST_CACHE_GIB = 1_000_000


def set_zone_storage(
    actor: Actor, *, zone_id: UUID, kind: str, source: str = "", dataset_cache_gib: int | None = None
) -> ZoneStorage:
    """Nothing is mounted by it and nothing that runs changes: nodes are compared with it.

    Nodes of a Kubernetes cluster take no new work until a check-up has proved that they have the files from there.

    `dataset_cache_gib`: what each joined machine keeps of copies of datasets, which it makes before work starts; None:
    as it was. Raises Invalid, Conflict.
    """
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    source = source.strip() if kind == StorageKind.NFS else ""
    _check(kind, source)
    if dataset_cache_gib is not None and not 0 <= dataset_cache_gib <= MOST_CACHE_GIB:
        raise Invalid.field("dataset_cache_gib", _("Choose at most %(most)s GiB.") % {"most": MOST_CACHE_GIB})
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        if zone.simulated:
            raise Conflict(_("Simulated nodes have no files."))
        former = storage_of_zone(zone)
        cache = former.dataset_cache_gib if dataset_cache_gib is None else dataset_cache_gib
        before, after = _values(former.kind, former.source, former.dataset_cache_gib), _values(kind, source, cache)
        if before == after:
            return former
        found, _made = ZoneStorage.objects.update_or_create(zone=zone, defaults=after)
        if (before["kind"], before["source"]) != (after["kind"], after["source"]):
            quarantine_zone(actor, zone_id=zone.pk)
        record(actor, action="zone.storage", target=_target(zone), before=before, after=after)
    return found


def _check(kind: str, source: str) -> None:
    if kind not in StorageKind.values:
        raise Invalid.field("kind", _("Choose how the machines come to the files."))
    if kind != StorageKind.NFS:
        return
    if len(source) > LONGEST or not _SOURCE.fullmatch(source):
        raise Invalid.field("source", _("Write the server and its folder, as in nas.example.net:/export/plstack."))


def _values(kind: str, source: str, dataset_cache_gib: int) -> dict[str, str | int]:
    return {"kind": str(kind), "source": source, "dataset_cache_gib": dataset_cache_gib}


def _target(zone: Zone) -> Target:
    return Target("zone", str(zone.pk), zone.name)
