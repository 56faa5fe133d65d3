"""The loop of the worker: looks after the scanner, notices what is to be scanned, scans one image at a time.

A row says that a scan is wanted; whoever claims it has it for a while. A scan whose process died is claimed again.
"""

import gzip
import logging
import shutil
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.common.advisory import try_lock
from apps.common.clock import db_now
from apps.registry.distribution import bearer
from apps.registry.distribution.access import Action
from apps.registry.distribution.names import repository_of_ours
from apps.registry.scanning import confinement, report, scanner, wanting
from apps.registry.scanning.choices import ScanProblem
from apps.registry.scanning.confinement import TARGET, Limits, Scanning
from apps.registry.scanning.layout import Layout, ScanFailed
from apps.registry.scanning.models import MAX_DETAIL, ImageScan, Scanner
from apps.registry.scanning.report import Answer, Finding
from apps.registry.scanning.scanner import Seen
from apps.registry.scanning.settings import ScanSettings
from apps.tenants import settings as platform_settings
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.oci.pull import Job
from apps.workloads.references import Reference

MOST_TRIES = 5
FIRST_PAUSE = timedelta(minutes=2)
UPDATE_EVERY = timedelta(hours=12)
LOOK_EVERY = timedelta(hours=1)
GRACE = timedelta(minutes=5)
log = logging.getLogger(__name__)
_last_look: list[tuple[object, ...]] = []


def advance() -> bool:
    """One turn: whether an image was scanned. Call it as the platform."""
    seen = _look_after_scanner()
    if seen is None or seen.problem or seen.program is None:
        return False
    wanting.note_missing()
    wanting.want_with_newer_database(seen.built_at)
    row = _claim()
    if row is None:
        return False
    _scan(row, seen)
    return True


def update_database() -> None:
    """From the mirror, where one is set and it is time to ask."""
    mirror = platform_settings.get(ScanSettings).mirror
    row = Scanner.objects.filter(key="grype").first()
    if not mirror or (row is not None and row.updated_at is not None and row.updated_at > db_now() - UPDATE_EVERY):
        return
    problem = ""
    try:
        scanner.update_database(mirror)
    except (scanner.ScannerError, OSError) as error:
        problem = str(error)[:MAX_DETAIL]
    values = {"update_problem": problem, "updated_at": Now()}
    Scanner.objects.update_or_create(key="grype", defaults=values)


def _look_after_scanner() -> Seen | None:
    """Asked anew when its files changed, and once an hour; in between as it was. None: unchanged and of no use."""
    mark = (settings.PLSTACK_HOME, *scanner.mark())
    row = Scanner.objects.filter(key="grype").first()
    if row is not None and [mark] == _last_look and row.seen_at > db_now() - LOOK_EVERY:
        if row.problem:
            return None
        return Seen(scanner.program(), row.version, row.built_at, row.schema)
    seen = scanner.look()
    scanner.note(seen)
    _last_look[:] = [mark]
    return seen


def _claim() -> ImageScan | None:
    now = db_now()
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    due = Q(not_before__isnull=True) | Q(not_before__lte=now)
    with transaction.atomic():
        if not _is_alone(now):
            return None
        rows = ImageScan.objects.select_for_update(skip_locked=True).filter(free, due, wanted_at__isnull=False)
        row = rows.order_by(F("scanned_at").asc(nulls_first=True), "wanted_at").first()
        if row is not None:
            row.claimed_until = now + _limit() + GRACE
            row.save(update_fields=["claimed_until"])
    return row


def _is_alone(now: datetime) -> bool:
    """One scan at a time, of all workers and their threads: it is heavy, and none of them is there for scans alone."""
    return try_lock("image scans") and not ImageScan.objects.filter(claimed_until__gte=now).exists()


def _scan(row: ImageScan, seen: Seen) -> None:
    scratch = _folder("scratch") / uuid4().hex
    try:
        answers = _answers(row, seen, scratch)
    except ScanFailed as failure:
        _failed(row, failure)
    except (OSError, report.Unreadable) as error:
        _failed(row, ScanFailed(ScanProblem.SCANNER_FAILED, str(error)))
    else:
        _succeeded(row, answers, seen)
    finally:
        remove_tree(scratch)


def _answers(row: ImageScan, seen: Seen, scratch: Path) -> list[Answer]:
    """One for each image under the digest: from the list of its packages where an earlier scan made it."""
    scratch.mkdir(mode=0o700)
    cancelled = threading.Event()
    timer = threading.Timer(_limit().total_seconds(), cancelled.set)
    timer.daemon = True
    timer.start()
    try:
        # A newer scanner may recognise more packages, so it reads the image itself.
        kept = _kept_sboms(row.digest) if row.scanner == f"grype {seen.version}" else []
        return _from_sboms(kept, seen, scratch, cancelled) if kept else _from_image(row, seen, scratch, cancelled)
    finally:
        timer.cancel()


def _from_image(row: ImageScan, seen: Seen, scratch: Path, cancelled: threading.Event) -> list[Answer]:
    answers, sboms = [], []
    layout = scratch / "image"
    layout.mkdir()
    for number, folder in enumerate(Layout(_job(row.reference), layout, cancelled).images()):
        found, sbom = _grype(seen, scratch / str(number), folder, f"oci-dir:{TARGET}", cancelled)
        answers.append(report.read(found))
        sboms.append(sbom)
    if all(sboms):
        _keep_sboms(row.digest, sboms)
    return answers


def _from_sboms(kept: Sequence[Path], seen: Seen, scratch: Path, cancelled: threading.Event) -> list[Answer]:
    answers = []
    for number, path in enumerate(kept):
        folder = scratch / f"sbom-{number}"
        folder.mkdir(mode=0o755)
        with gzip.open(path) as packed, open(folder / confinement.SBOM, "wb") as file:
            shutil.copyfileobj(packed, file)
        (folder / confinement.SBOM).chmod(0o644)
        target = f"sbom:{TARGET}/{confinement.SBOM}"
        found, _again = _grype(seen, scratch / str(number), folder, target, cancelled)
        answers.append(report.read(found))
    return answers


def _grype(seen: Seen, scratch: Path, folder: Path, target: str, cancelled: threading.Event) -> tuple[bytes, bytes]:
    assert seen.program is not None  # noqa: S101 - asked for by who claims
    scratch.mkdir(mode=0o700)
    rules = settings.IMAGE_PULL_RULES
    limits = Limits(int(_limit().total_seconds()), settings.SCAN_MEMORY_MIB, rules.most_mib)
    asked = Scanning(seen.program, scanner.database(), folder, target, scratch, limits)
    try:
        return confinement.scan(asked, cancelled)
    finally:
        remove_tree(scratch)


def _job(reference: str) -> Job:
    """With a token of our own where it is our registry's."""
    image = Reference.parse(reference)
    name, token = repository_of_ours(image), ""
    if name is not None:
        grant = bearer.Grant(name.text, frozenset({Action.PULL.value}))
        token = bearer.issue(bearer.PLATFORM, [grant], int((_limit() + GRACE).total_seconds()))
    return Job(image, Path(settings.PLSTACK_HOME), settings.IMAGE_PULL_RULES, bearer=token)


def _succeeded(row: ImageScan, answers: Sequence[Answer], seen: Seen) -> None:
    found: set[Finding] = set().union(*(answer.findings for answer in answers))
    counts, lines = report.packed(report.summed(found))
    built = [answer.built_at for answer in answers if answer.built_at]
    ImageScan.objects.filter(pk=row.pk).update(
        wanted_at=None, claimed_until=None, not_before=None, tries=0, problem="", problem_detail="", failed_at=None,
        scanned_at=Now(), scanner=answers[0].scanner[:60], database_built_at=min(built) if built else seen.built_at,
        counts=counts, findings=lines,
    )  # fmt: skip


def _failed(row: ImageScan, failure: ScanFailed) -> None:
    """Tried again after a while, then no more until somebody asks; what an earlier scan found stays."""
    log.info("scan of %s: %s %s", row.reference, failure.problem, failure.detail)
    tries = row.tries + 1
    given_up = tries >= MOST_TRIES
    ImageScan.objects.filter(pk=row.pk).update(
        problem=failure.problem, problem_detail=failure.detail[:MAX_DETAIL], failed_at=Now(), claimed_until=None,
        tries=0 if given_up else tries, wanted_at=None if given_up else row.wanted_at,
        not_before=None if given_up else db_now() + FIRST_PAUSE * 2**tries,
    )  # fmt: skip


def _limit() -> timedelta:
    return timedelta(minutes=settings.SCAN_MINUTES)


def _folder(name: str) -> Path:
    found = Path(settings.PLSTACK_HOME) / scanner.FOLDER / name
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def _kept_sboms(digest: str) -> list[Path]:
    return sorted((_folder("packages") / digest.removeprefix("sha256:")).glob("*.json.gz"))


def _keep_sboms(digest: str, sboms: Sequence[bytes]) -> None:
    """All of an image's or none: a later scan reads only these."""
    place = _folder("packages") / digest.removeprefix("sha256:")
    draft = place.with_name(f"{place.name}.{uuid4().hex}")
    draft.mkdir(mode=0o700)
    for number, sbom in enumerate(sboms):
        (draft / f"{number}.json.gz").write_bytes(gzip.compress(sbom, 6))
    remove_tree(place)
    draft.rename(place)
