"""Words about recharges that two people decide on. Data: `kind`, `amount_fen`, `organisation`, `reference`, `request`,
`person`, `by`, `reason`."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.money import yuan
from apps.notifications.words.base import Data, Speaker, Words, name_in

# Both take money out of a wallet.
BACK = ("reversal", "refund")
VOUCHER = "voucher"
CREDIT, DEBIT = "credit", "debit"


def _asked(data: Data) -> Words:
    names = {**_names(data), "person": name_in(data, "person")}
    if data.get("kind") == VOUCHER:
        title = _("%(person)s asks to grant %(organisation)s a voucher of %(amount)s") % names
        return _about(data, title, _("A second person has to approve it."), Tone.WAIT, "wallet", _("Decide"))
    if data.get("kind") in (CREDIT, DEBIT):
        title = _("%(person)s asks for a debit note of %(amount)s for %(organisation)s") % names
        if data.get("kind") == CREDIT:
            title = _("%(person)s asks for a credit note of %(amount)s for %(organisation)s") % names
    elif data.get("kind") in BACK:
        title = _("%(person)s asks to take %(amount)s back from %(organisation)s") % names
    else:
        title = _("%(person)s asks to credit %(amount)s to %(organisation)s") % names
    text = _("Reference %(reference)s. A second person has to approve it.") % names
    return _about(data, title, text, Tone.WAIT, "cash", _("Decide"))


def _approved(data: Data) -> Words:
    names = {**_names(data), "by": name_in(data, "by")}
    if data.get("kind") == VOUCHER:
        title = _("%(organisation)s has a voucher of %(amount)s") % names
    elif data.get("kind") == CREDIT:
        title = _("%(organisation)s has a credit note of %(amount)s") % names
    elif data.get("kind") == DEBIT:
        title = _("%(organisation)s has a debit note of %(amount)s") % names
    elif data.get("kind") in BACK:
        title = _("%(amount)s were taken back from %(organisation)s") % names
    else:
        title = _("%(amount)s were credited to %(organisation)s") % names
    return _about(data, title, _("Approved by %(by)s.") % names, Tone.RUN, "circle-check", _("View"))


def _denied(data: Data) -> Words:
    names = {**_names(data), "by": name_in(data, "by"), "reason": name_in(data, "reason")}
    title = _("Your recharge for %(organisation)s was denied") % names
    if data.get("kind") == VOUCHER:
        title = _("Your voucher for %(organisation)s was denied") % names
    if data.get("kind") in BACK:
        title = _("Your reversal for %(organisation)s was denied") % names
    if data.get("kind") in (CREDIT, DEBIT):
        title = _("Your adjustment for %(organisation)s was denied") % names
    return _about(data, title, _("%(by)s: %(reason)s") % names, Tone.FAIL, "circle-x", _("View"))


def _names(data: Data) -> dict[str, str]:
    return {
        "amount": yuan(int(data.get("amount_fen") or 0)),
        "organisation": name_in(data, "organisation"),
        "reference": name_in(data, "reference"),
    }


def _about(data: Data, title: str, text: str, tone: Tone, icon: str, action: str) -> Words:
    request = name_in(data, "request", "")
    page, args = ("console:recharge_request", (request,)) if request else ("console:recharges", ())
    return Words(title, text, tone, icon, page=page, args=args, action=action)


KINDS: Mapping[str, Speaker] = {
    "recharge.asked": _asked,
    "recharge.approved": _approved,
    "recharge.denied": _denied,
}
