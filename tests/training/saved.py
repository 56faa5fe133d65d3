"""Runs that ended and left checkpoints."""

import os
import time
from pathlib import Path

from apps.common.scoping import acting
from apps.storage.services import root_of
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training.kit import submit


def end(run: Run, status: Status = Status.STOPPED) -> Run:
    """As if it had run and ended; what it wrote is up to the test."""
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(status=status, ended_at="2026-01-01T00:00Z")
        return Run.objects.select_related("workload", "output", "code").get(pk=run.pk)


def save(run: Run, name: str, content: bytes = b"weights", *, age_s: float = 0.0) -> Path:
    path = root_of(run.output) / "checkpoints" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    at = time.time() - age_s
    os.utime(path, (at, at))
    return path


def saved_epochs(world: World) -> Run:
    """An ended run that saved epochs 1 to 3."""
    made = end(submit(world, tags=("baseline",)))
    for epoch in (1, 2, 3):
        save(made, f"epoch-{epoch}.pt", age_s=100 - epoch)
    return made
