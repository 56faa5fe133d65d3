"""The worker's side: claim an export, write its rows to a file, store the file in parts. Memory stays flat.

The file is written as the person who asked for it, with the rights that they have at that time.
"""

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from django.db import transaction
from django.utils.translation import gettext_noop, override

from apps.billing.export_choices import ExportFormat
from apps.billing.exports import states
from apps.billing.exports.sources import needed_for_all, rows_of, sheet_of
from apps.billing.exports.wanted import ExportSpec, export_spec
from apps.billing.exports.writers import Sums, writer_of
from apps.billing.models import Export
from apps.common.actor import Actor, Channel
from apps.common.claiming import MOST_CLAIMS
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.notifications.services import notify_staff, notify_user
from apps.tenants.actors import organisation_actor, platform_actor

# Rows between two progress reports, and how many the database returns at once.
PAGE = 2000
PART = 1 << 20
MOST_ROWS = 10_000_000
# Codes of failures with their texts.
BROKEN, DENIED, LOST, TOO_MANY = "broken", "denied", "lost", "too_many"
FAILURES = {
    BROKEN: gettext_noop("Something broke while it was written. Ask for it again; if it fails again, tell the staff."),
    DENIED: gettext_noop("Your role does not allow these rows any more."),
    LOST: gettext_noop("The worker was stopped three times while it wrote this. Ask for it again later."),
    TOO_MANY: gettext_noop("There are more rows than one file may have. Choose fewer days."),
}  # fmt: skip
_turn = Lock()
log = logging.getLogger(__name__)


class ClaimLost(Exception):
    """The export was cancelled, or another worker has claimed it."""


class CannotWrite(Exception):
    """The export cannot be written; carries the code that says why."""


def write_due_exports() -> int:
    """Write all exports that are due and return how many; 0 while another thread of this process is doing so."""
    count = 0
    if not _turn.acquire(blocking=False):
        return count
    try:
        states.expire()
        while (export := states.claim()) is not None:
            _write_or_fail(export)
            count += 1
    finally:
        _turn.release()
    return count


def _write_or_fail(export: Export) -> None:
    try:
        if export.fence > MOST_CLAIMS:
            raise CannotWrite(LOST)
        _write(export)
    except ClaimLost:
        return
    except CannotWrite as refusal:
        _failed(export, str(refusal))
    except Denied:
        _failed(export, DENIED)
    except Exception:  # whatever went wrong, the person must not be left waiting
        log.exception("export %s broke", export.pk)
        _failed(export, BROKEN)


def _failed(export: Export, code: str) -> None:
    with transaction.atomic():  # whoever waits for it is told in the same moment, or a death between would keep it
        if states.fail(export, code):
            _tell(export, "export.failed")


def _write(export: Export) -> None:
    wanted = export_spec(export.kind, export.format, export.filters)
    with TemporaryDirectory(prefix="export-") as folder:
        path = Path(folder) / "file"
        with acting(_owner(export)) as actor, override(export.language):
            count, sums = _rows(export, actor, wanted, path)
            whole = needed_for_all(actor, wanted)
            covers_all = whole is None or actor.may(whole)
        digest = _store_parts(export, path)
        size, amount_fen = path.stat().st_size, sums.amount_fen()
    with transaction.atomic():  # as in `_failed`
        if not states.finish(
            export, size=size, digest=digest, rows=count, amount_fen=amount_fen, covers_all=covers_all
        ):
            raise ClaimLost
        _tell(export, "export.ready")


def _owner(export: Export) -> Actor:
    """The requester as an actor with their present rights; raises `Denied` if they are no longer member or staff."""
    if not export.owner.is_active:
        raise CannotWrite(DENIED)
    if export.organisation_id is None:
        return platform_actor(export.owner, channel=Channel.TASK)
    return organisation_actor(export.owner, export.organisation_id, channel=Channel.TASK)


def _rows(export: Export, actor: Actor, wanted: ExportSpec, path: Path) -> tuple[int, Sums]:
    """Write all rows into the file; return how many and their sums."""
    sheet, rows = sheet_of(actor, wanted), rows_of(actor, wanted)
    total = rows.count()
    if total > MOST_ROWS:
        raise CannotWrite(TOO_MANY)
    _report_progress(export, 0, total)
    writer = writer_of(ExportFormat(export.format), path, sheet.columns, sheet.title)
    sums = Sums(sheet.columns)
    count = 0
    # A cursor of the server's: one plan and one moment in time for the whole file, a page of it in memory.
    for row in rows.iterator(chunk_size=PAGE):
        cells = sheet.cells(row)
        sums.add(cells)
        writer.row(cells)
        count += 1
        if count % PAGE == 0:
            _report_progress(export, count, total)
    writer.close(sums.row() if sums.places else None)
    return count, sums


def _report_progress(export: Export, done: int, total: int) -> None:
    if not states.report_progress(export, done=done, total=total):
        raise ClaimLost


def _store_parts(export: Export, path: Path) -> str:
    """Store the file in parts; return its SHA-256."""
    digest = hashlib.sha256()
    for number, content in enumerate(_pieces(path)):
        digest.update(content)
        if not states.store_part(export, number, content):
            raise ClaimLost
    return digest.hexdigest()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while content := file.read(PART):
            yield content


def _tell(export: Export, kind: str) -> None:
    data = {"what": export.kind, "export": str(export.pk), "console": export.organisation_id is None}
    dedup = f"{kind}:{export.pk}"
    if export.organisation_id is None:
        notify_staff(user_id=export.owner_id, kind=kind, data=data, dedup=dedup)
    else:
        notify_user(organisation_id=export.organisation_id, user_id=export.owner_id, kind=kind, data=data, dedup=dedup)
