"""Request an export, which a worker writes, and cancel the request."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.export_choices import OPEN_EXPORTS
from apps.billing.exports import states
from apps.billing.exports.selectors import export
from apps.billing.exports.sources import needed
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Export
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid

# Open exports of one person: a worker writes one after the other.
MOST_OPEN = 5
# Days outside this range are typing errors.
YEARS = range(2000, 2200)


def request_export(actor: Actor, *, wanted: ExportSpec) -> Export:
    """Request a file, which a worker writes soon. The same request while one is under way returns that export.

    Raises `Denied`, `Invalid` for days that end before they begin, `Conflict` beyond `MOST_OPEN` files at once.
    """
    actor.require(needed(actor, wanted))
    _check_days(wanted)
    key = wanted.digest(actor.organisation_id)
    mine = Export.objects.filter(owner_id=actor.person(), status__in=OPEN_EXPORTS)
    known: Export | None = mine.filter(wanted=key).first()
    if known is not None:
        return known
    if mine.count() >= MOST_OPEN:
        raise Conflict(_("%(count)s files are being made for you already. Wait for one, or cancel it.") % {
            "count": MOST_OPEN
        })  # fmt: skip
    try:
        with transaction.atomic():
            return _create(actor, wanted, key)
    except IntegrityError:  # the same wish, pressed twice
        found: Export = mine.get(wanted=key)
        return found


def _check_days(wanted: ExportSpec) -> None:
    for name, day in (("since", wanted.since), ("until", wanted.until)):
        if day and day.year not in YEARS:
            raise Invalid.field(name, _("Choose a day between %(first)s and %(last)s.") % {
                "first": YEARS[0], "last": YEARS[-1]
            })  # fmt: skip
    if wanted.since and wanted.until and wanted.until < wanted.since:
        raise Invalid.field("until", _("The last day lies before the first."))


def _create(actor: Actor, wanted: ExportSpec, key: str) -> Export:
    made: Export = Export.objects.create(
        organisation_id=actor.organisation_id,
        owner_id=actor.person(),
        kind=wanted.kind,
        format=wanted.format,
        filters=wanted.filters(),
        language=get_language() or "en",
        wanted=key,
    )
    record(
        actor,
        action="billing.export.asked",
        target=Target("export", str(made.pk), str(made.get_kind_display())),
        after={"kind": made.kind, "format": made.format, **made.filters},
    )
    return made


def cancel(actor: Actor, *, export_id: UUID) -> Export:
    """End an export of one's own that is under way; `Conflict` where it has ended."""
    found = export(actor, export_id)
    if not states.cancel(found):
        raise Conflict(_("It has ended already."))
    found.refresh_from_db()
    return found
