"""Snapshots of an environment's files: take, restore and drop them. `reconcile` does the actual work."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.envs import states
from apps.envs.choices import SnapshotKind, Step, StepStatus
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.permissions import require_own
from apps.envs.services.shared import locked, log, refuse_binned, tell_pages
from apps.storage import trees
from apps.storage.disk import require_free_space


def take(actor: Actor, environment: Environment, *, note: str = "") -> Operation:
    """Save the files as they are now, whether it runs or not. `Conflict` while something else is under way."""
    require_own(actor, environment)
    refuse_binned(environment)
    require_free_space()
    with transaction.atomic():
        operation = states.begin(locked(environment), Step.SNAPSHOT, by_id=actor.user_id, note=note)
        log(actor, environment, "snapshot_asked", after={"note": note[:200]})
        tell_pages(environment)
    return operation


def restore(
    actor: Actor, environment: Environment, snapshot: Snapshot | None, *, start_after: bool | None = None
) -> Operation:
    """Restore the files of `snapshot`, or (None) the image's initial state: an empty home.

    It is stopped first; the present files are kept as a snapshot of their own.
    """
    require_own(actor, environment)
    refuse_binned(environment)
    require_free_space()
    with transaction.atomic():
        row = locked(environment)
        if snapshot is not None and (snapshot.environment_id != row.pk or snapshot.ready_at is None):
            raise NotFound
        live = row.workload is not None and row.workload.is_live
        operation = states.begin(
            row,
            Step.RESTORE,
            by_id=actor.user_id,
            source=snapshot,
            from_image=snapshot is None,
            start_after=live if start_after is None else start_after,
        )
        log(actor, row, "restore_asked", after={"snapshot": str(snapshot.pk) if snapshot else "image"})
        tell_pages(row)
    return operation


def get(environment: Environment, snapshot_id: UUID) -> Snapshot:
    """A snapshot of this environment; `NotFound` otherwise."""
    found: Snapshot | None = Snapshot.objects.filter(environment=environment, pk=snapshot_id).first()
    if found is None:
        raise NotFound
    return found


def drop(actor: Actor, snapshot: Snapshot) -> None:
    """Remove a snapshot for good. `Conflict` while it is being restored."""
    require_own(actor, snapshot.environment)
    with transaction.atomic():
        used = Operation.objects.filter(status=StepStatus.WAITING, source=snapshot)
        if used.exists():
            raise Conflict(_("It is being restored now."))
        log(actor, snapshot.environment, "snapshot_dropped", before={"at": snapshot.created_at.isoformat()})
        delete_snapshot(snapshot)
        tell_pages(snapshot.environment)


def delete_snapshot(snapshot: Snapshot) -> None:
    """Delete the row and its manifest; unreferenced contents are collected later."""
    manifest = snapshot.manifest
    snapshot.delete()
    if manifest is not None:
        trees.drop_manifest(manifest)


def prune_automatic(environment: Environment, keep: int) -> int:
    """Drop the oldest automatic snapshots beyond `keep` (0: keep all); returns how many."""
    if not keep:
        return 0
    kinds = [SnapshotKind.AUTOMATIC, SnapshotKind.BEFORE_RELEASE, SnapshotKind.AT_STOP]
    rows = Snapshot.objects.filter(environment=environment, kind__in=kinds, ready_at__isnull=False)
    used = Operation.objects.filter(environment=environment, status=StepStatus.WAITING, source__isnull=False)
    old = list(rows.exclude(pk__in=used.values("source")).select_related("manifest").order_by("-created_at")[keep:])
    for snapshot in old:
        with transaction.atomic():
            delete_snapshot(snapshot)
    return len(old)
