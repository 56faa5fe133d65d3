"""Words about prepaid time. Data: `order`, `package_en`, `package_zh`, `quantity`, `ends_at` (ISO 8601), and by kind
`days`, `auto_renew`, `offered`, `amount_fen`, `shortfall_fen`, `covers_until`, `code`, `at_end`."""

from collections.abc import Mapping

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.money import yuan
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in


def _ending(data: Data) -> Words:
    days = int(data.get("days") or 0)
    title = ngettext("Prepaid %(what)s ends in %(days)s day", "Prepaid %(what)s ends in %(days)s days", days) % {
        "what": _what(data),
        "days": days,
    }
    short = int(data.get("shortfall_fen") or 0)
    return _about(data, title, _next(data, short), Tone.WARN if short or not data.get("auto_renew") else Tone.WAIT)


def _next(data: Data, short: int) -> str:
    if not data.get("offered", True):
        return _("It is no longer offered for this term and cannot be renewed. After the end the hour price applies.")
    amount = {"amount": yuan(int(data.get("amount_fen") or 0)), "short": yuan(short)}
    if not data.get("auto_renew"):
        return _("One period more costs %(amount)s. Without a renewal, the hour price applies after the end.") % amount
    if short:
        return _("It renews itself for %(amount)s, but the wallet is %(short)s short. Top it up.") % amount
    return _("It renews itself for %(amount)s; the wallet covers that.") % amount


def _renewed(data: Data) -> Words:
    title = _("Prepaid %(what)s was renewed") % {"what": _what(data)}
    return _about(data, title, _("It now ends at %(time)s.") % {"time": moment_in(data, "ends_at")}, Tone.RUN)


def _not_renewed(data: Data) -> Words:
    title = _("Prepaid %(what)s could not renew itself") % {"what": _what(data)}
    text = _("It is no longer offered for this term.")
    if data.get("code") == "insufficient_funds":
        text = _("The wallet does not cover it. Top it up: it is tried again until the end of the grace.")
    return _about(data, title, text, Tone.FAIL)


def _grace(data: Data) -> Words:
    title = _("Prepaid %(what)s has ended") % {"what": _what(data)}
    text = _("It can be renewed until %(time)s; running work stays covered until then.")
    return _about(data, title, text % {"time": moment_in(data, "covers_until")}, Tone.WARN)


def _expired(data: Data) -> Words:
    title = _("Prepaid %(what)s has expired") % {"what": _what(data)}
    text = _("What still runs on it is charged by the hour from now on.")
    if data.get("at_end") == "stop":
        text = _("What it covered and still runs is saved and stopped, as the order says.")
    return _about(data, title, text, Tone.FAIL)


def _what(data: Data) -> str:
    """`2 × Small GPU` in the reader's language."""
    name = name_in(data, "package_zh" if (get_language() or "").startswith("zh") else "package_en")
    quantity = int(data.get("quantity") or 1)
    return f"{quantity} × {name}" if quantity != 1 else name


def _about(data: Data, title: str, text: str, tone: Tone) -> Words:
    icon = "circle-check" if tone is Tone.RUN else "calendar-event"
    return Words(title, text, tone, icon, action=_("See the order"), **link(data, "billing:prepaid_order", "order"))


KINDS: Mapping[str, Speaker] = {
    "prepaid.ending": _ending,
    "prepaid.renewed": _renewed,
    "prepaid.not_renewed": _not_renewed,
    "prepaid.grace": _grace,
    "prepaid.expired": _expired,
}
