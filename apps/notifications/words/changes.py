"""Words about changes of prices and limits that two people decide on.

Data: `change` (the kind), `subject` and `subject_zh`, `before` and `after` (its terms), `request`, `person`, `by`,
`reason`.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.discounts import discount_words, says_zhe
from apps.common.money import yuan, yuan_rate
from apps.notifications.words.base import Data, Speaker, Words, name_in


def change_title(data: Data) -> str:
    """What is changed, and of what."""
    titles: Mapping[str, Callable[[], str]] = {
        "credit_limit": lambda: _("Credit limit of %(subject)s"),
        "discount": lambda: _("Discount of %(subject)s"),
        "package_price": lambda: _("Price of the package %(subject)s"),
        "unit_price": lambda: _("Price of the list: %(subject)s"),
        "storage_price": lambda: _("Price of storage"),
        "term_price": lambda: _("Price by the period of %(subject)s"),
        "limits": lambda: _("What one person may do alone"),
    }
    said = titles.get(str(data.get("change")))
    words = said() if said else _("Price of %(subject)s")
    local = str(data.get("subject_zh") or "") if says_zhe() else ""
    return words % {"subject": local or name_in(data, "subject")}


def change_steps(data: Data) -> list[str]:
    """`¥14.00/h → ¥2.10/h`, one for each value that changes."""
    before, after = _mapping(data, "before"), _mapping(data, "after")
    names = [name for name in SAID if name in after and before.get(name) != after[name]]
    return [f"{_said(name, before.get(name))} → {_said(name, after[name])}" for name in names]


def _asked(data: Data) -> Words:
    title = _("%(person)s asks for a change: %(what)s") % {
        "person": name_in(data, "person"),
        "what": change_title(data),
    }
    text = _("%(steps)s. A second person has to approve it.") % {"steps": "; ".join(change_steps(data))}
    return _about(data, title, text, Tone.WAIT, "coin", _("Decide"))


def _approved(data: Data) -> Words:
    names = {"steps": "; ".join(change_steps(data)), "by": name_in(data, "by")}
    title = _("Approved: %(what)s") % {"what": change_title(data)}
    return _about(data, title, _("%(steps)s. Approved by %(by)s.") % names, Tone.RUN, "circle-check", _("View"))


def _denied(data: Data) -> Words:
    names = {"by": name_in(data, "by"), "reason": name_in(data, "reason")}
    title = _("Denied: %(what)s") % {"what": change_title(data)}
    return _about(data, title, _("%(by)s: %(reason)s") % names, Tone.FAIL, "circle-x", _("View"))


def _said(name: str, value: Any) -> str:
    try:
        return "—" if value is None else SAID[name](value)
    except (ArithmeticError, InvalidOperation, TypeError, ValueError):
        return str(value)


SAID: Mapping[str, Callable[[Any], str]] = {
    "credit_limit_fen": lambda value: yuan(int(value)),
    "alone_fen": lambda value: yuan(int(value)),
    "price_fen": lambda value: yuan(int(value)),
    "rate_fen_per_hour": lambda value: yuan_rate(Decimal(value)),
    "off": lambda value: discount_words(Decimal(value)),
    "discount_percent": lambda value: f"{int(value)} %",
    "price_drop_percent": lambda value: f"{int(value)} %",
}


def _mapping(data: Data, key: str) -> Mapping[str, Any]:
    found = data.get(key)
    return found if isinstance(found, Mapping) else {}


def _about(data: Data, title: str, text: str, tone: Tone, icon: str, action: str) -> Words:
    request = name_in(data, "request", "")
    page, args = ("console:change_request", (request,)) if request else ("console:change_requests", ())
    return Words(title, text, tone, icon, page=page, args=args, action=action)


KINDS: Mapping[str, Speaker] = {"change.asked": _asked, "change.approved": _approved, "change.denied": _denied}
