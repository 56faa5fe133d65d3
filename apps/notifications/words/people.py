"""Words about members and webhooks. Data: `person`, `by`, `organisation`, `role` (as shown); `webhook_id`, `name`."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words, link, name_in


def _invited(data: Data) -> Words:
    names = {"by": name_in(data, "by"), "organisation": name_in(data, "organisation")}
    text = _("%(by)s asks you to join %(organisation)s. The link is in your mail.") % names
    return Words(_("You are invited into %(organisation)s") % names, text, Tone.WAIT, "mail")


def _joined(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "organisation": name_in(data, "organisation", _("your organisation"))}
    title = _("%(person)s has joined") % names
    text = _("A new member of %(organisation)s.") % names
    return Words(title, text, Tone.RUN, "user-plus", page="organisation:members", action=_("Members"))


def _removed(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "by": name_in(data, "by")}
    text = _("Removed by %(by)s. What they made stays.") % names
    return Words(_("%(person)s is no longer a member") % names, text, Tone.STOP, "user-minus")


def _role_changed(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "role": name_in(data, "role"), "by": name_in(data, "by")}
    text = _("Changed by %(by)s. It counts from now on.") % names
    return Words(_("%(person)s is now %(role)s") % names, text, Tone.WAIT, "user-cog")


def _hook_off(data: Data) -> Words:
    title = _("The webhook %(name)s was switched off") % {"name": name_in(data, "name")}
    text = _("Its receiver has not accepted anything for days. Put it right, then switch it on again.")
    return Words(title, text, Tone.FAIL, "webhook", action=_("Open"), **link(data, "webhooks:detail", "webhook_id"))


KINDS: Mapping[str, Speaker] = {
    "member.invited": _invited,
    "member.joined": _joined,
    "member.removed": _removed,
    "member.role_changed": _role_changed,
    "webhook.switched_off": _hook_off,
}
