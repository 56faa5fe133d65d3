"""Asking for a file that a worker makes, and taking the wish back."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.export_choices import OPEN_EXPORTS
from apps.billing.exports import states
from apps.billing.exports.selectors import export
from apps.billing.exports.sources import may_export
from apps.billing.exports.wanted import Wanted
from apps.billing.models import Export
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid
from apps.common.permissions import Permission

# Under way at once, of one person: a worker writes one after the other.
MOST_OPEN = 5
# Days outside these mean a slip of the keyboard.
YEARS = range(2000, 2200)


def ask(actor: Actor, *, wanted: Wanted) -> Export:
    """A file of what is wanted, made soon. The same wish while it is under way is the same export.

    Raises `Denied`, `Invalid` for days that end before they begin, `Conflict` beyond `MOST_OPEN` files at once.
    """
    if not may_export(actor, wanted.kind):
        raise Denied(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
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
            return _made(actor, wanted, key)
    except IntegrityError:  # the same wish, pressed twice
        found: Export = mine.get(wanted=key)
        return found


def _check_days(wanted: Wanted) -> None:
    for name, day in (("since", wanted.since), ("until", wanted.until)):
        if day and day.year not in YEARS:
            raise Invalid.field(name, _("Choose a day between %(first)s and %(last)s.") % {
                "first": YEARS[0], "last": YEARS[-1]
            })  # fmt: skip
    if wanted.since and wanted.until and wanted.until < wanted.since:
        raise Invalid.field("until", _("The last day lies before the first."))


def _made(actor: Actor, wanted: Wanted, key: str) -> Export:
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
