"""Words about money. Data: fen, `burn_fen_per_hour` (decimal text), `grace_until` and `release_at` (ISO 8601)."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.badges import Tone
from apps.common.formatting import duration, estimated_moment, moment
from apps.common.money import yuan, yuan_rate
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in, time_in

# The states of an organisation for which nothing starts.
STOPPED = ("grace", "suspended", "release_pending", "released")


def _low(data: Data) -> Words:
    burn, funds = _burn(data), int(data.get("funds_fen", 0))
    text = _("%(funds)s are left.") % {"funds": yuan(funds)}
    if burn > 0:
        text = _("%(funds)s are left; at %(burn)s they last %(time)s.") % {
            "funds": yuan(funds),
            "burn": yuan_rate(burn),
            "time": duration(float(max(funds, 0) / burn * 3600)),
        }
    title = _("The balance is running low")
    if data.get("before") in STOPPED:
        title = _("Work can start again; the balance is still low")
    return _about_money(title, text, Tone.WARN, "alert-triangle")


def _work_low(data: Data) -> Words:
    """To the owner of running work. Data: `names` (of the work), `count`, `runs_until` (ISO 8601)."""
    until = time_in(data, "runs_until")
    text = _("%(work)s is saved and stopped when the organisation's balance is used up.") % {"work": _work(data)}
    if until is not None:
        text = _(
            "%(work)s runs until about %(time)s at what the organisation runs now; then it is saved and stopped unless "
            "the wallet is topped up."
        ) % {"work": _work(data), "time": estimated_moment(until)}
    return _about_work(_("The organisation's balance is running low"), text, Tone.WARN, "alert-triangle")


def _work_grace(data: Data) -> Words:
    until = time_in(data, "grace_until")
    text = _("%(work)s is saved and stopped soon unless the wallet is topped up.") % {"work": _work(data)}
    if until is not None:
        text = _("%(work)s is saved and stopped at %(time)s unless the wallet is topped up.") % {
            "work": _work(data),
            "time": moment(until),
        }
    return _about_work(_("The organisation's balance is used up"), text, Tone.FAIL, "alert-triangle")


def _work(data: Data) -> str:
    """The names of somebody's running work; how many there are besides."""
    names = data.get("names")
    named = _(", ").join(map(str, names)) if isinstance(names, list) and names else _("Your work")
    more = int(number_in(data, "count")) - (len(names) if isinstance(names, list) else 0)
    return _("%(names)s and %(count)s more") % {"names": named, "count": more} if more > 0 else named


def _organisation_grace(data: Data) -> Words:
    """To the platform's finance and business staff. Data: `organisation` (name), `organisation_id`, `funds_fen`."""
    title = _("%(organisation)s has used up its balance") % {"organisation": name_in(data, "organisation")}
    text = _("%(funds)s are left. Its work goes on for a while, then it is saved and stopped.") % _funds(data)
    until = time_in(data, "grace_until")
    if until is not None:
        text = _("%(funds)s are left. Its work is saved and stopped at %(time)s unless it tops up.") % {
            **_funds(data),
            "time": moment(until),
        }
    return _about_organisation(data, title, text, Tone.WARN, "alert-triangle")


def _organisation_suspended(data: Data) -> Words:
    title = _("Work of %(organisation)s was stopped because the balance ran out") % {
        "organisation": name_in(data, "organisation")
    }
    text = _("%(funds)s are left. Its data is kept; it can start again after a top-up.") % _funds(data)
    until = time_in(data, "release_at")
    if until is not None:
        text = _("%(funds)s are left. Its data is kept until %(time)s; it can start again after a top-up.") % {
            **_funds(data),
            "time": moment(until),
        }
    return _about_organisation(data, title, text, Tone.FAIL, "circle-x")


def _funds(data: Data) -> dict[str, str]:
    return {"funds": yuan(int(number_in(data, "funds_fen")))}


def _grace(data: Data) -> Words:
    until = time_in(data, "grace_until")
    text = _("Running work is stopped unless the wallet is topped up; nothing new starts until then.")
    if until is not None:
        text = _(
            "Running work is stopped at %(time)s unless the wallet is topped up; nothing new starts until then."
        ) % {"time": moment(until)}
    return _about_money(_("The balance is used up"), text, Tone.FAIL, "alert-triangle")


def _suspended(data: Data) -> Words:
    text = _("All running work was saved and stopped. Its files are kept; it can start again after a top-up.")
    until = time_in(data, "release_at")
    if until is not None:
        text = _(
            "All running work was saved and stopped. Its files are kept until %(time)s; it can start again after a "
            "top-up."
        ) % {"time": moment(until)}
    return _about_money(_("Work was stopped because the balance ran out"), text, Tone.FAIL, "circle-x")


def _release_pending(data: Data) -> Words:
    title = _("Stored data will be released")
    text = _("The organisation has been without money for long. Top up the wallet to keep its data.")
    until, days = time_in(data, "release_at"), data.get("days")
    if until is not None and isinstance(days, int):
        title = ngettext("Stored data is released in %(days)s day", "Stored data is released in %(days)s days", days)
        title = title % {"days": days}
        text = _(
            "From %(time)s the organisation's volumes, datasets and environments may be removed. Top up the wallet to "
            "keep them."
        ) % {"time": moment(until)}
    return _about_money(title, text, Tone.FAIL, "alert-triangle")


def _released(data: Data) -> Words:
    text = _("The time for topping up has passed: stored data may be moved into the recycle bin at any time.")
    return _about_money(_("Stored data was released"), text, Tone.FAIL, "circle-x")


def _binned(data: Data) -> Words:
    text = _(
        "%(count)s volumes, datasets and environments are in the recycle bin. From there they can be restored until "
        "they are removed for good."
    ) % {"count": int(number_in(data, "count"))}
    return _about_money(_("Stored data was moved into the recycle bin"), text, Tone.FAIL, "circle-x")


def _budget(data: Data) -> Words:
    percent = int(number_in(data, "percent"))
    names = {
        "name": name_in(data, "name"),
        "percent": percent,
        "spent": yuan(int(number_in(data, "spent_fen"))),
        "limit": yuan(int(number_in(data, "limit_fen"))),
    }
    title = _("%(percent)s %% of the budget %(name)s is spent") % names
    text = _("%(spent)s of %(limit)s in this month. Nothing is stopped.") % names
    tone = Tone.FAIL if percent >= 100 else Tone.WARN
    return Words(title, text, tone, "alert-triangle", page="billing:budgets", action=_("Budgets"))


def _restored(data: Data) -> Words:
    text = _("%(funds)s are available; work can start again.") % {"funds": yuan(int(data.get("funds_fen", 0)))}
    if data.get("before") == "low":
        text = _("%(funds)s are available; at what runs now they last for a day or longer.") % _funds(data)
    return _about_money(_("The balance is in order again"), text, Tone.RUN, "circle-check")


def _topped_up(data: Data) -> Words:
    """Data: `amount_fen`; `reference` of a payment that the platform's staff have recorded, absent for Alipay."""
    title = _("%(amount)s were paid into the wallet") % {"amount": yuan(int(data.get("amount_fen", 0)))}
    text = _("Paid by Alipay; work can start at once.")
    if data.get("reference"):
        text = _("Recorded by the platform, reference %(reference)s; work can start at once.") % {
            "reference": name_in(data, "reference")
        }
    return _about_money(title, text, Tone.RUN, "circle-check")


def _taken_back(data: Data) -> Words:
    """Data: `amount_fen`, `reference` (of the recharge), `reason`."""
    title = _("%(amount)s were taken back from the wallet") % {"amount": yuan(int(number_in(data, "amount_fen")))}
    text = _("Of the recharge %(reference)s: %(reason)s") % {
        "reference": name_in(data, "reference"),
        "reason": name_in(data, "reason"),
    }
    return _about_money(title, text, Tone.WARN, "arrow-back-up")


def _adjusted(data: Data) -> Words:
    """Data: `kind` (credit or debit), `amount_fen`, `reference` (the note's number), `reason`."""
    names = {
        "amount": yuan(int(number_in(data, "amount_fen"))),
        "number": name_in(data, "reference"),
        "reason": name_in(data, "reason"),
    }
    text = _("%(number)s: %(reason)s. It appears on this month's bill.") % names
    if data.get("kind") == "debit":
        title = _("A debit note: %(amount)s were taken from the wallet") % names
        return _about_money(title, text, Tone.WARN, "receipt")
    title = _("A credit note: %(amount)s were paid into the wallet") % names
    return _about_money(title, text, Tone.RUN, "receipt")


def _statement(data: Data) -> Words:
    """Data: `statement` (id), `period` (YYYY-MM), `total_fen`."""
    names = {"period": name_in(data, "period"), "amount": yuan(int(data.get("total_fen", 0)))}
    statement = name_in(data, "statement", "")
    page, args = ("billing:bill", (statement,)) if statement else ("billing:bills", ())
    title = _("The statement of %(period)s is there") % names
    text = _("Consumption of the month: %(amount)s.") % names
    return Words(title, text, Tone.RUN, "receipt", page=page, args=args, action=_("View"))


def _about_money(title: str, text: str, tone: Tone, icon: str) -> Words:
    return Words(title, text, tone, icon, page="billing:wallet", action=_("Wallet"))


def _about_work(title: str, text: str, tone: Tone, icon: str) -> Words:
    return Words(title, text, tone, icon, page="portal:overview", action=_("View"))


def _about_organisation(data: Data, title: str, text: str, tone: Tone, icon: str) -> Words:
    return Words(title, text, tone, icon, action=_("View"), **link(data, "console:organisation", "organisation_id"))


KINDS: Mapping[str, Speaker] = {
    "billing.low": _low,
    "billing.grace": _grace,
    "billing.work_low": _work_low,
    "billing.work_grace": _work_grace,
    "billing.organisation_grace": _organisation_grace,
    "billing.organisation_suspended": _organisation_suspended,
    "billing.suspended": _suspended,
    "billing.release_pending": _release_pending,
    "billing.released": _released,
    "billing.binned": _binned,
    "billing.budget": _budget,
    "billing.restored": _restored,
    "billing.statement": _statement,
    "billing.topped_up": _topped_up,
    "billing.taken_back": _taken_back,
    "billing.adjusted": _adjusted,
}


def _burn(data: Data) -> Decimal:
    try:
        return Decimal(str(data.get("burn_fen_per_hour", 0)))
    except InvalidOperation:
        return Decimal(0)
