"""Whether owners of workloads may still mount what they chose: one of `settings.MOUNT_RIGHTS`, asked before each start.

The rule is that of `owned.visible` and `owned.writable`, answered for many people and objects in four queries.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from apps.common.permissions import Permission
from apps.storage.choices import Right, RootKind
from apps.storage.choosing import Chosen, chosen_mounts
from apps.storage.models import Dataset, DatasetShare, DatasetVersion, Volume, VolumeShare
from apps.workloads.start_rights import LostMount, MountRequest

Grants = frozenset[tuple[UUID, int, str]]
"""Id of the object, id of the person, codename of the object permission."""

Wish = tuple[MountRequest, Chosen, str]


def lost_mounts(requests: Sequence[MountRequest]) -> dict[UUID, LostMount]:
    """By workload, the first mount to which its owner has lost the right."""
    wishes = [
        (request, chosen, mount.target)
        for request in requests
        for mount in request.mounts
        for chosen in chosen_mounts([mount])
    ]
    things, grants = _things(wishes), _grants(wishes)
    found: dict[UUID, LostMount] = {}
    for request, chosen, target in wishes:
        thing = things.get(chosen.id)
        lost = _lost(request, chosen, thing, grants)
        if lost is not None:
            name = thing.name if thing is not None else target.rpartition("/")[2]
            found.setdefault(request.workload_id, LostMount(chosen.kind.value, name, lost.value))
    return found


def _things(wishes: Sequence[Wish]) -> Mapping[UUID, Volume | Dataset]:
    """Volumes by their own id, datasets by that of the version which is mounted."""
    volumes, versions = _ids(wishes, RootKind.VOLUME), _ids(wishes, RootKind.VERSION)
    found: dict[UUID, Volume | Dataset] = dict(Volume.objects.in_bulk(volumes)) if volumes else {}
    if versions:
        rows = DatasetVersion.objects.filter(pk__in=versions).select_related("dataset")
        found |= {version.pk: version.dataset for version in rows}
    return found


def _grants(wishes: Sequence[Wish]) -> Grants:
    people = {request.owner_id for request, _chosen, _target in wishes}
    volumes, versions = _ids(wishes, RootKind.VOLUME), _ids(wishes, RootKind.VERSION)
    columns = ("content_object_id", "user_id", "permission__codename")
    found: set[tuple[UUID, int, str]] = set()
    if volumes:
        found |= set(VolumeShare.objects.filter(content_object__in=volumes, user__in=people).values_list(*columns))
    if versions:
        rows = DatasetShare.objects.filter(content_object__versions__in=versions, user__in=people)
        found |= set(rows.values_list(*columns))
    return frozenset(found)


def _ids(wishes: Sequence[Wish], kind: RootKind) -> set[UUID]:
    return {chosen.id for _request, chosen, _target in wishes if chosen.kind is kind}


def _lost(request: MountRequest, chosen: Chosen, thing: Volume | Dataset | None, grants: Grants) -> Right | None:
    """The missing right, or None. A version is never written to."""
    if thing is None or thing.deleted_at is not None or thing.organisation_id != request.organisation_id:
        return Right.READ
    if not _allows(request, thing, Right.READ, grants):
        return Right.READ
    writes = chosen.kind is RootKind.VOLUME and not chosen.read_only
    return Right.WRITE if writes and not _allows(request, thing, Right.WRITE, grants) else None


def _allows(request: MountRequest, thing: Volume | Dataset, right: Right, grants: Grants) -> bool:
    needed = Permission.STORAGE_VIEW if right is Right.READ else Permission.STORAGE_USE
    if needed not in request.permissions:
        return False
    if Permission.STORAGE_MANAGE_ALL in request.permissions or thing.owner_id == request.owner_id:
        return True
    return (thing.pk, request.owner_id, f"{right.value}_{thing._meta.model_name}") in grants
