"""A copy of one's own data: asked for, written by a worker, kept for a week, one at a time for each person."""

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import get_language, override

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.tenants.models import OwnDataExport, User
from apps.tenants.own_data_zip import pack

KEPT = timedelta(days=7)
# A worker that has not finished by then was killed.
SILENT = timedelta(minutes=10)
MOST_TRIES = 3
Told = Callable[[OwnDataExport], None]
log = logging.getLogger(__name__)


def latest(actor: Actor) -> OwnDataExport | None:
    """The person's copy that is under way, ready or failed; without its content."""
    rows = OwnDataExport.objects.filter(user_id=actor.person()).defer("content")
    return rows.order_by("-asked_at").first()


def ask(actor: Actor) -> OwnDataExport:
    """Ask for a copy of one's own data. One that is under way is returned; a former one is deleted."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=actor.person())
        mine = OwnDataExport.objects.filter(user=user)
        known = mine.filter(ready_at=None, failed_at=None).first()
        if known is not None:
            return known
        mine.delete()
        made: OwnDataExport = OwnDataExport.objects.create(user=user, language=get_language() or "en")
        _log(actor, user, "account.data_asked")
    return made


def download(actor: Actor, export_id: UUID) -> OwnDataExport:
    """The person's own copy with its content; `NotFound` for any other, and once it has expired."""
    ready = OwnDataExport.objects.filter(ready_at__isnull=False, expires_at__gt=db_now())
    found: OwnDataExport | None = ready.filter(user_id=actor.person(), pk=export_id).select_related("user").first()
    if found is None:
        raise NotFound
    _log(actor, found.user, "account.data_fetched")
    return found


def _log(actor: Actor, user: User, action: str) -> None:
    record(actor, action=action, target=Target("user", str(user.pk), user.username))


def write_due(told: Told) -> int:
    """Write what was asked for and return how much; delete what has expired. `told` is called as each ends."""
    now = db_now()
    OwnDataExport.objects.filter(Q(expires_at__lte=now) | Q(failed_at__lte=now - KEPT)).delete()
    count = 0
    while (due := _claim()) is not None:
        _write(due, told)
        count += 1
    return count


def _claim() -> OwnDataExport | None:
    now = db_now()
    with transaction.atomic():
        rows = OwnDataExport.objects.filter(ready_at=None, failed_at=None)
        rows = rows.filter(Q(claimed_at=None) | Q(claimed_at__lt=now - SILENT)).order_by("asked_at")
        found: OwnDataExport | None = rows.select_for_update(skip_locked=True).first()
        if found is not None:
            OwnDataExport.objects.filter(pk=found.pk).update(claimed_at=now, tries=F("tries") + 1)
            found.refresh_from_db()
    return found


def _write(due: OwnDataExport, told: Told) -> None:
    content = None
    if due.tries <= MOST_TRIES:
        try:
            with override(due.language):
                content = pack(due.user)
        except Exception:  # whatever went wrong, the person must not be left waiting
            log.exception("copy %s of somebody's data broke", due.pk)
    now = db_now()
    with transaction.atomic():  # told in the same moment, or a death between would keep it from them
        mine = OwnDataExport.objects.filter(pk=due.pk, tries=due.tries, ready_at=None, failed_at=None)
        if content is None:
            written = mine.update(failed_at=now)
        else:
            written = mine.update(ready_at=now, expires_at=now + KEPT, content=content, size=len(content))
        if written:
            due.refresh_from_db()
            told(due)
