"""Builds that have ended: what they kept of their steps becomes the organisation's, within its room."""

import logging

from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum

from apps.audit.models import Entry
from apps.builds.models import Build, CachedStep
from apps.builds.selectors import Result, result
from apps.common.errors import DomainError
from apps.storage import services as storage
from apps.storage import trees
from apps.storage.disk import exclusive_turn, require_free_space
from apps.storage.models import Manifest, ManifestEntry
from apps.storage.services import root_of
from apps.workloads.choices import LIVE
from apps.workloads.selectors import current_attempt

log = logging.getLogger(__name__)
LAYER = "layer.tar"  # as `inside/step_cache.py` has it
ENDED_BY_ITSELF = (0, 1)
"""Exit codes of `inside/build.py` after it has given what it kept its names; no step can bring them about."""
BUILDS_AT_ONCE = 20


def keep_ended() -> int:
    """How many builds gave up their folders. Call in the platform's scope."""
    with exclusive_turn("build-cache") as ours:
        if not ours:
            return 0
        rows = Build.objects.filter(Q(kept__isnull=False) | Q(passed_on__isnull=False))
        ended = rows.exclude(workload__status__in=LIVE)
        builds = list(ended.select_related("workload", "kept", "cached", "answers", "passed_on")[:BUILDS_AT_ONCE])
        for build in builds:
            try:
                _keep(build)
            except (DomainError, OSError) as error:
                log.warning("Steps of %s are not kept: %s", build.pk, error)
            _give_up_folders(build)
            prune(build)
    return len(builds)


def _keep(build: Build) -> None:
    told = _believed(build)
    if told is None or build.kept is None:
        return
    require_free_space()
    root = root_of(build.kept)
    for number, key in enumerate(build.step_keys, 1):
        part = build.steps[number - 1].get("part")
        path = str(number) if part is None else f"{part}/{number}"
        if key and (root / path).is_dir():
            manifest = trees.capture(organisation_id=build.organisation_id, root=root, path=path, links=False)
            _enter(build, number, key, told.machine, manifest)


def _believed(build: Build) -> Result | None:
    """What its program says of itself; None where a step, or a person inside, may have had a hand in it."""
    told, attempt = result(build), current_attempt(build.workload)
    if told is None or not told.machine or attempt is None or attempt.exit_code not in ENDED_BY_ITSELF:
        return None
    entered = Entry.objects.filter(
        action="terminal.opened", target_type="workload", target_id=str(build.workload_id)
    ).exists()
    return None if entered else told


def _enter(build: Build, number: int, key: str, architecture: str, manifest: Manifest) -> None:
    """In place of an entry that was there, which this build has found damaged or gone."""
    files = list(ManifestEntry.objects.filter(manifest=manifest)[:2])
    if len(files) != 1 or files[0].path != LAYER or files[0].sha256 is None:
        trees.drop_manifest(manifest)
        return
    with transaction.atomic():
        here = CachedStep.objects.filter(organisation_id=build.organisation_id, key=key, architecture=architecture)
        _drop(list(here.select_related("manifest")))
        CachedStep.objects.create(
            organisation_id=build.organisation_id,
            key=key,
            architecture=architecture,
            number=number,
            digest=bytes(files[0].sha256).hex(),
            size_bytes=files[0].size,
            manifest=manifest,
        )


def _give_up_folders(build: Build) -> None:
    with transaction.atomic():
        Build.objects.filter(pk=build.pk).update(kept=None, cached=None, passed_on=None)
        for folder in filter(None, (build.kept, build.cached, build.passed_on)):
            storage.remove_folder(folder)


def prune(build: Build) -> None:
    """Those used longest ago go; of one build's, the last steps first, since those before them are worth more."""
    rows = CachedStep.objects.filter(organisation_id=build.organisation_id)
    over = (rows.aggregate(total=Sum("size_bytes"))["total"] or 0) - settings.BUILD_CACHE_BYTES
    for row in rows.select_related("manifest").order_by("used_at", "-number").iterator() if over > 0 else ():
        _drop([row])
        over -= row.size_bytes
        if over <= 0:
            return


def _drop(rows: list[CachedStep]) -> None:
    for row in rows:
        with transaction.atomic():
            row.delete()
            trees.drop_manifest(row.manifest)
