"""Words about files and papers that were asked for.

Data of exports: `what`, `export`, `console` (whose page it leads to). Of invoices: `invoice`, `amount_fen`, `title`,
`organisation`, `person`, `number`, `reason`.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.money import yuan
from apps.notifications.words.base import Data, Speaker, Words, link, name_in


def _export_ready(data: Data) -> Words:
    text = _("It can be fetched for seven days; its last row states the sums.")
    return _export(data, _("Your file is ready"), text, Tone.RUN, "file-spreadsheet")


def _export_failed(data: Data) -> Words:
    text = _("The list of exports says why.")
    return _export(data, _("Your file could not be made"), text, Tone.FAIL, "circle-x")


def _export(data: Data, title: str, text: str, tone: Tone, icon: str) -> Words:
    page = "console:exports" if data.get("console") else "billing:exports"
    return Words(title, text, tone, icon, page=page, action=_("Exports"))


def _requested(data: Data) -> Words:
    title = _("%(organisation)s asks for an invoice over %(amount)s") % _names(data)
    text = _("Made out to %(title)s.") % _names(data)
    target = link(data, "console:invoice", "invoice")
    return Words(title, text, Tone.WAIT, "file-invoice", action=_("Decide"), **target)


def _approved(data: Data) -> Words:
    title = _("The invoice over %(amount)s is approved") % _names(data)
    return _invoice(data, title, _("It is issued next; you are told when its file is here."), Tone.RUN, "clock-check")


def _issued(data: Data) -> Words:
    title = _("The invoice over %(amount)s is issued") % _names(data)
    text = _("Number %(number)s, made out to %(title)s. Its file can be fetched.") % _names(data)
    return _invoice(data, title, text, Tone.RUN, "file-invoice")


def _denied(data: Data) -> Words:
    title = _("The invoice over %(amount)s was denied") % _names(data)
    return _invoice(data, title, name_in(data, "reason"), Tone.FAIL, "circle-x")


def _voided(data: Data) -> Words:
    title = _("The invoice over %(amount)s was voided") % _names(data)
    text = _("Number %(number)s: %(reason)s") % _names(data)
    return _invoice(data, title, text, Tone.WARN, "rotate")


def _names(data: Data) -> dict[str, str]:
    told = {name: name_in(data, name) for name in ("organisation", "title", "number", "reason")}
    return {**told, "amount": yuan(int(data.get("amount_fen") or 0))}


def _invoice(data: Data, title: str, text: str, tone: Tone, icon: str) -> Words:
    return Words(title, text, tone, icon, action=_("View"), **link(data, "billing:invoice", "invoice"))


KINDS: Mapping[str, Speaker] = {
    "export.ready": _export_ready,
    "export.failed": _export_failed,
    "invoice.requested": _requested,
    "invoice.approved": _approved,
    "invoice.issued": _issued,
    "invoice.denied": _denied,
    "invoice.voided": _voided,
}
