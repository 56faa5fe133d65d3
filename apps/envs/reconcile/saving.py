"""Take and restore snapshots: the slow part of operations, each step of which may be repeated."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from django.db import transaction
from django.db.models.functions import Now

from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.choices import SnapshotKind
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.policy import EnvironmentSettings
from apps.envs.services.snapshots import prune_automatic
from apps.storage import rebuilding, trees
from apps.storage import services as storage
from apps.storage.disk import move_to_trash
from apps.storage.models import Folder
from apps.tenants import settings
from apps.workloads.models import Attempt

RENEW_EVERY_S = 20.0


def take_snapshot(operation: Operation, kind: SnapshotKind) -> Snapshot:
    """Take the operation's own snapshot unless it was taken already. Raises OSError, `DomainError`."""
    snapshot = operation.safety or _open(operation, kind)
    if snapshot.ready_at is not None:
        return snapshot
    environment = operation.environment
    last = _latest_snapshot(environment)
    manifest = trees.capture(
        organisation_id=environment.organisation_id,
        root=storage.root_of(environment.home),
        base=last.manifest if last else None,
        progress=_renew_claim(operation),
    )
    with transaction.atomic():
        Snapshot.objects.filter(pk=snapshot.pk).update(
            manifest=manifest, size_bytes=manifest.total_bytes, file_count=manifest.file_count, ready_at=Now()
        )
        # What follows the files' moment is what would be lost if it had to give way.
        running = Attempt.objects.filter(workload=environment.workload_id, ended_at__isnull=True)
        running.update(checkpoint_at=snapshot.created_at)
    snapshot.refresh_from_db()
    prune_automatic(environment, settings.get(EnvironmentSettings).automatic_snapshots)
    return snapshot


def _open(operation: Operation, kind: SnapshotKind) -> Snapshot:
    with transaction.atomic():
        snapshot: Snapshot = Snapshot.objects.create(
            organisation_id=operation.organisation_id,
            environment_id=operation.environment_id,
            kind=kind,
            note=operation.note,
            made_by=operation.by.display_name if operation.by else "PLStack",
        )
        Operation.objects.filter(pk=operation.pk).update(safety=snapshot)
    snapshot.refresh_from_db()
    operation.safety = snapshot
    return snapshot


def _latest_snapshot(environment: Environment) -> Snapshot | None:
    rows = Snapshot.objects.filter(environment=environment, ready_at__isnull=False, manifest__isnull=False)
    found: Snapshot | None = rows.select_related("manifest").order_by("-created_at").first()
    return found


def _renew_claim(operation: Operation) -> Callable[[int, int], None]:
    """A callback that renews the claim with progress and aborts as soon as somebody else has it."""
    last = time.monotonic()

    def progress(_files: int, _bytes: int) -> None:
        nonlocal last
        if time.monotonic() - last > RENEW_EVERY_S:
            last = time.monotonic()
            if not states.reschedule(operation, states.LEASE.total_seconds()):
                raise Conflict("the operation has another claimant")

    return progress


def restore_home(operation: Operation) -> None:
    """Restore the home to the operation's source, or empty it. Old files are removed; nothing may run meanwhile.

    It is made beside the home and exchanged at the end, so that after a crash the next try continues.
    """
    home = operation.environment.home
    root = storage.root_of(home)
    made = root.with_name(f".{root.name}.{operation.pk.hex}")
    if root.is_dir() or made.is_dir():
        made.mkdir(exist_ok=True)
        if operation.source is not None and operation.source.manifest is not None:
            rebuilding.materialise(operation.source.manifest, made, progress=_renew_claim(operation))
        _exchange(root, made)
    Folder.objects.filter(pk=home.pk).update(touched_at=Now())


def _exchange(root: Path, made: Path) -> None:
    if root.is_dir():
        move_to_trash(root)
    os.rename(made, root)
