"""Words about packages that need approval. Data: `package` (as shown), `person`, `by`, `reason`, `page` (URL name)."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words, name_in


def _requested(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "package": name_in(data, "package")}
    title = _("%(person)s asks for %(package)s") % names
    return Words(title, _reason(data), Tone.WAIT, "package", page=_page(data), action=_("Decide"))


def _approved(data: Data) -> Words:
    title = _("You may use %(package)s") % {"package": name_in(data, "package")}
    text = _("Approved by %(by)s.") % {"by": name_in(data, "by")}
    return Words(title, text, Tone.RUN, "circle-check")


def _denied(data: Data) -> Words:
    title = _("Your request for %(package)s was denied") % {"package": name_in(data, "package")}
    return Words(title, _reason(data), Tone.FAIL, "circle-x")


def _reason(data: Data) -> str:
    return name_in(data, "reason", _("No reason was given."))


def _page(data: Data) -> str:
    """The caller knows whether the platform or the organisation decides."""
    return str(data.get("page") or "")


KINDS: Mapping[str, Speaker] = {
    "package.requested": _requested,
    "package.approved": _approved,
    "package.denied": _denied,
}
