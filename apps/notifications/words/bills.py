"""Words about Alipay's bills and our own books, for finance staff.

Data: `day` (ISO), `open`: how many payments need somebody; `wrong`: how much is wrong in the books, by check.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words, name_in


def _differs(data: Data) -> Words:
    number, day = int(data.get("open") or 0), name_in(data, "day", "")
    title = _("Alipay's bill of %(day)s does not agree with our books") % {"day": day}
    text = ngettext("%(number)s payment or refund needs you.", "%(number)s payments or refunds need you.", number)
    return _about(day, title, text % {"number": number}, Tone.FAIL)


def _missing(data: Data) -> Words:
    day = name_in(data, "day", "")
    title = _("Alipay has no bill of %(day)s, and we have payments of that day") % {"day": day}
    return _about(day, title, _("It is asked for again. You can also upload the bill by hand."), Tone.WARN)


def _books(data: Data) -> Words:
    title = _("The books do not add up")
    text = _("The nightly check found sums that are not what they are made of. Report this; the log names them.")
    return Words(title, text, Tone.FAIL, "alert-triangle", page="console:finance", action=_("View"))


def _about(day: str, title: str, text: str, tone: Tone) -> Words:
    page, args = ("console:reconciliation_day", (day,)) if day else ("console:reconciliation", ())
    return Words(title, text, tone, "cash", page=page, args=args, action=_("View"))


KINDS: Mapping[str, Speaker] = {
    "billing.bill_differs": _differs,
    "billing.bill_missing": _missing,
    "billing.books_wrong": _books,
}
