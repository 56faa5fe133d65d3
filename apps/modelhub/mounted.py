"""Mounting a version: the kernel's mount of it, and the kernel's questions about such mounts."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.modelhub import selectors
from apps.modelhub.choices import VersionState
from apps.modelhub.models import ModelShare, ModelVersion
from apps.storage.choices import Right, RootKind
from apps.storage.listings import listing_path, mounted_ids
from apps.workloads.dataset_copies import CopySource
from apps.workloads.spec import DataMount
from apps.workloads.start_rights import LostMount, MountRequest


def mount(actor: Actor, version: ModelVersion, at: str) -> DataMount:
    """The kernel's mount of a version at the path `at`: always read-only.

    `NotFound` if the actor may not read it (any more), `Conflict` while its contents are not there.
    """
    found = selectors.version(actor, version.pk)
    if found.state == VersionState.FAILED:
        raise Conflict(_("The contents of %(version)s could not be copied.") % {"version": found})
    if not found.is_ready:
        text = _("The contents of %(version)s are still being copied.") % {"version": found}
        raise Conflict(text, hint=_("Wait until it is ready."))
    return DataMount(found.relative_path, at, read_only=True)


def lost_mounts(requests: Sequence[MountRequest]) -> dict[UUID, LostMount]:
    """One of `settings.MOUNT_RIGHTS`: by workload, the first model that its owner may not read any more.

    The rule is that of `selectors.models_for`, answered for many people and versions in two queries.
    """
    wanted = {request.workload_id: mounted_ids(request.mounts, RootKind.MODEL) for request in requests}
    ids = {version_id for versions in wanted.values() for version_id in versions}
    if not ids:
        return {}
    rows = ModelVersion.objects.filter(pk__in=ids, state=VersionState.READY).select_related("model").in_bulk()
    shares = ModelShare.objects.filter(content_object__versions__in=ids, permission__codename="read_model")
    shared = set(shares.values_list("content_object_id", "user_id"))
    found: dict[UUID, LostMount] = {}
    for request in requests:
        for version_id in wanted[request.workload_id]:
            version = rows.get(version_id)
            if version is None or not _may_read(request, version, shared):
                name = str(version) if version is not None else str(version_id)[:8]
                found.setdefault(request.workload_id, LostMount(RootKind.MODEL.value, name, Right.READ.value))
    return found


def _may_read(request: MountRequest, version: ModelVersion, shared: set[tuple[UUID, int]]) -> bool:
    model = version.model
    if model.deleted_at is not None or model.organisation_id != request.organisation_id:
        return False
    if Permission.MODELS_VIEW not in request.permissions:
        return False
    if Permission.MODELS_MANAGE_ALL in request.permissions or model.open_to_all:
        return True
    return model.owner_id == request.owner_id or (model.pk, request.owner_id) in shared


def copy_sources(mounts: Iterable[DataMount]) -> Mapping[str, CopySource]:
    """One of `settings.MOUNT_COPIES`: the versions among the mounts, by the mount's source."""
    ids = mounted_ids(mounts, RootKind.MODEL)
    if not ids:
        return {}
    rows = ModelVersion.objects.filter(pk__in=ids, listing_sha256__isnull=False).select_related("model")
    return {
        ids[row.pk]: CopySource(
            row.organisation_id,
            str(row),
            listing_path(row.organisation_id, row.pk),
            bytes(row.listing_sha256 or b"").hex(),
            row.total_bytes,
            row.file_count,
        )
        for row in rows
    }
