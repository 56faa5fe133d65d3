"""Write, change and delete reports. A report holds text and ids of runs: readers see only runs that they may see."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.training.metric_pages import chosen_runs
from apps.training.models import Report
from apps.training.reports.blocks import parse
from apps.training.reports.selectors import changeable

MOST = 200
"""Of one person in one organisation."""
LONGEST_NAME, LONGEST_TEXT = 80, 50_000


def create(actor: Actor, *, name: str, text: str, run_ids: Sequence[UUID], shared: bool = False) -> Report:
    """Raises `Invalid` by field, `Conflict` for more than one person may have."""
    actor.require(Permission.TRAINING_SUBMIT)
    owned = {"organisation_id": actor.organisation(), "owner_id": actor.person()}
    if Report.objects.filter(**owned).count() >= MOST:
        raise Conflict(_("You have 200 reports already."), hint=_("Delete those that nobody needs any more."))
    fields = {"name": _name(name), "text": _text(text), "runs": _runs(actor, run_ids), "shared": shared}
    with transaction.atomic():
        row: Report = Report.objects.create(**owned, **fields)
        _log(actor, "report.created", row, after={"name": row.name, "shared": shared, "runs": row.runs})
    row.refresh_from_db()
    return row


def change(
    actor: Actor,
    report_id: UUID,
    *,
    name: str | None = None,
    text: str | None = None,
    run_ids: Sequence[UUID] | None = None,
    shared: bool | None = None,
) -> Report:
    """What is None stays. Raises `Invalid` by field."""
    row = changeable(actor, report_id)
    asked = {
        "name": None if name is None else _name(name),
        "text": None if text is None else _text(text),
        "runs": None if run_ids is None else _runs(actor, run_ids),
        "shared": shared,
    }
    fields: dict[str, Any] = {
        key: value for key, value in asked.items() if value is not None and value != getattr(row, key)
    }
    if fields:
        said = [key for key in fields if key != "text"]  # the text itself would fill the audit
        with transaction.atomic():
            Report.objects.filter(pk=row.pk).update(**fields, changed_at=Now())
            before = {key: getattr(row, key) for key in said}
            _log(actor, "report.changed", row, before=before, after={key: fields[key] for key in said})
    row.refresh_from_db()
    return row


def delete(actor: Actor, report_id: UUID) -> Report:
    row = changeable(actor, report_id)
    with transaction.atomic():
        _log(actor, "report.deleted", row, before={"shared": row.shared, "runs": row.runs})
        Report.objects.filter(pk=row.pk).delete()
    return row


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise Invalid.field("name", _("Give it a name."))
    if len(name) > LONGEST_NAME:
        raise Invalid.field("name", _("At most %(most)s characters.") % {"most": LONGEST_NAME})
    return name


def _text(text: str) -> str:
    if not text.strip():
        raise Invalid.field("text", _("Write something, or put in a chart or a table."))
    if len(text) > LONGEST_TEXT:
        raise Invalid.field("text", _("At most %(most)s characters.") % {"most": LONGEST_TEXT})
    mistakes = parse(text).mistakes
    if mistakes:
        said = _("Line %(line)s: %(words)s")
        words = [said % {"line": each.line, "words": each.words} for each in mistakes]
        raise Invalid.field("text", " ".join(words))
    return text.replace("\r\n", "\n").replace("\0", "")


def _runs(actor: Actor, ids: Sequence[UUID]) -> list[str]:
    try:
        return [str(run.pk) for run in chosen_runs(actor, ids)]
    except NotFound as error:
        raise Invalid.field("runs", _("It names a run that does not exist, or that you cannot see.")) from error


def _log(
    actor: Actor,
    action: str,
    row: Report,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    target = Target("report", str(row.pk), row.name)
    record(actor, action=action, organisation_id=row.organisation_id, target=target, before=before, after=after)
