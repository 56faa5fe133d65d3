"""A build as the kernel runs it: one program for each part, each in its own base image, and what each may write to."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from apps.billing.models import Package
from apps.builds.cache.offering import Offer
from apps.registry.models import Image
from apps.registry.picker import on_image
from apps.storage.models import Folder
from apps.storage.publishing import publish
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.offers.quoting import resources_of
from apps.workloads.references import Reference
from apps.workloads.spec import DataMount, Spec, Stage

CODE = Path(__file__).resolve().parent / "inside"
PLACE = "/opt/plstack-build"
ANSWERS_MIB = 16
MIB = 1 << 20


def spec_of(
    package: Package,
    bases: Sequence[Image],
    *,
    plan: Folder | None = None,
    files: Folder | None = None,
    answers: Folder | None = None,
    cache: Offer | None = None,
    passed_on: Folder | None = None,
) -> Spec:
    """The kernel's spec of a build on `package`. `bases`: of each part, the last one that of the image."""
    mounts = [DataMount(publish(CODE, "build").name, f"{PLACE}/program")]
    if plan is not None and answers is not None:
        mounts.append(DataMount(plan.relative_path, f"{PLACE}/plan"))
        mounts.append(DataMount((files or plan).relative_path, f"{PLACE}/files"))
        mounts.append(DataMount(answers.relative_path, f"{PLACE}/answers", False, ANSWERS_MIB))
    last = len(bases) - 1
    if cache is not None:
        mounts.append(DataMount(cache.cached.relative_path, f"{PLACE}/cached"))
        mounts += _own_folders(cache.kept, "kept", len(bases), last, _room_to_keep())
    if passed_on is not None:
        mounts += _own_folders(passed_on, "stages", last, last, settings.RUN_SCRATCH_MIB)
    spec = on_image(resources_of(package), bases[-1])
    return replace(
        spec,
        archs=_architectures(bases),
        argv=_program(last),
        mounts=tuple(mounts),
        workdir="",
        egress=True,
        builds=True,
        stages=tuple(
            Stage(Reference.parse(base.reference), _program(number), _writes(number, mounts))
            for number, base in enumerate(bases[:-1])
        ),
    )


def _program(part: int) -> tuple[str, ...]:
    folders = (f"{PLACE}/{name}" for name in ("plan", "files", "answers", "cached", "kept", "stages"))
    return (MACHINE_PYTHON, "-E", "-s", "-S", f"{PLACE}/program/build.py", *folders, str(part))


def _own_folders(folder: Folder, name: str, parts: int, last: int, limit_mib: int) -> list[DataMount]:
    """One for each part, which alone writes to it: what it says, no later step can change."""
    return [
        DataMount(f"{folder.relative_path}/{number}", f"{PLACE}/{name}/{number}", number != last, limit_mib)
        for number in range(parts)
    ]


def _writes(part: int, mounts: Sequence[DataMount]) -> tuple[str, ...]:
    own = {f"{PLACE}/answers", f"{PLACE}/kept/{part}", f"{PLACE}/stages/{part}"}
    return tuple(mount.target for mount in mounts if mount.target in own)


def _architectures(bases: Sequence[Image]) -> tuple[str, ...]:
    """On which all of them run; empty for any."""
    limited = [set(base.architectures) for base in bases if base.architectures]
    return tuple(sorted(set.intersection(*limited))) if limited else ()


def _room_to_keep() -> int:
    """In MiB: all that the cache takes, and some for the folders."""
    return settings.BUILD_CACHE_BYTES // MIB + ANSWERS_MIB
