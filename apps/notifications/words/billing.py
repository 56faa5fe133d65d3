"""Words about money. Data: `funds_fen`, `burn_fen_per_hour` (decimal text), `grace_until` (ISO 8601)."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import duration, moment
from apps.common.money import yuan, yuan_rate
from apps.notifications.words.base import Data, Speaker, Words, time_in


def _low(data: Data) -> Words:
    burn, funds = _burn(data), int(data.get("funds_fen", 0))
    text = _("%(funds)s are left.") % {"funds": yuan(funds)}
    if burn > 0:
        text = _("%(funds)s are left; at %(burn)s they last %(time)s.") % {
            "funds": yuan(funds),
            "burn": yuan_rate(burn),
            "time": duration(float(max(funds, 0) / burn * 3600)),
        }
    return _about_money(_("The balance is running low"), text, Tone.WARN, "alert-triangle")


def _grace(data: Data) -> Words:
    until = time_in(data, "grace_until")
    text = _("Running work is stopped unless the wallet is topped up; nothing new starts until then.")
    if until is not None:
        text = _(
            "Running work is stopped at %(time)s unless the wallet is topped up; nothing new starts until then."
        ) % {"time": moment(until)}
    return _about_money(_("The balance is used up"), text, Tone.FAIL, "alert-triangle")


def _suspended(data: Data) -> Words:
    text = _("All running work was stopped. Its outputs are kept; it can start again after a top-up.")
    return _about_money(_("Work was stopped for want of money"), text, Tone.FAIL, "circle-x")


def _release_pending(data: Data) -> Words:
    text = _("The organisation has been without money for long. Top up the wallet to keep its data.")
    return _about_money(_("Stored data will be released"), text, Tone.FAIL, "alert-triangle")


def _released(data: Data) -> Words:
    return _about_money(_("Stored data was released"), _("The time for topping up has passed."), Tone.FAIL, "circle-x")


def _restored(data: Data) -> Words:
    text = _("%(funds)s are available; work can start again.") % {"funds": yuan(int(data.get("funds_fen", 0)))}
    return _about_money(_("The balance is in order again"), text, Tone.RUN, "circle-check")


def _topped_up(data: Data) -> Words:
    title = _("%(amount)s were paid into the wallet") % {"amount": yuan(int(data.get("amount_fen", 0)))}
    return _about_money(title, _("Paid by Alipay; work can start at once."), Tone.RUN, "circle-check")


def _about_money(title: str, text: str, tone: Tone, icon: str) -> Words:
    return Words(title, text, tone, icon, page="billing:wallet", action=_("Wallet"))


KINDS: Mapping[str, Speaker] = {
    "billing.low": _low,
    "billing.grace": _grace,
    "billing.suspended": _suspended,
    "billing.release_pending": _release_pending,
    "billing.released": _released,
    "billing.restored": _restored,
    "billing.topped_up": _topped_up,
}


def _burn(data: Data) -> Decimal:
    try:
        return Decimal(str(data.get("burn_fen_per_hour", 0)))
    except InvalidOperation:
        return Decimal(0)
