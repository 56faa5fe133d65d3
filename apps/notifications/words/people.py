"""Words about members and webhooks. Data: `person`, `by`, `organisation`, `role` (as shown); `webhook_id`, `name`."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.words.base import Data, Speaker, Words, link, moment_in, name_in


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


def _leaving(data: Data) -> Words:
    """Data: `person`, `by`, `erase_at`."""
    names = {"person": name_in(data, "person"), "by": name_in(data, "by"), "time": moment_in(data, "erase_at")}
    title = _("The account of %(person)s will be deleted") % names
    text = _(
        "Asked for by %(by)s. On %(time)s their volumes, datasets and environments go to the recycle bin; copy before "
        "what the organisation needs of them."
    )
    return Words(title, text % names, Tone.WARN, "user-x", page="organisation:members", action=_("Members"))


def _stays(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "by": name_in(data, "by")}
    text = _("Taken back by %(by)s. Nothing was lost.") % names
    return Words(_("The account of %(person)s stays") % names, text, Tone.RUN, "user-check")


def _role_changed(data: Data) -> Words:
    names = {"person": name_in(data, "person"), "role": name_in(data, "role"), "by": name_in(data, "by")}
    text = _("Changed by %(by)s. It counts from now on.") % names
    return Words(_("%(person)s is now %(role)s") % names, text, Tone.WAIT, "user-cog")


_RIGHTS_LOST: Mapping[str, str | Promise] = {
    "membership": gettext_lazy("They do not belong to the organisation any more."),
    "account": gettext_lazy("Their account is disabled."),
    "role": gettext_lazy("Their role does not allow this kind of work any more."),
    "frozen": gettext_lazy("The organisation is frozen."),
    "image_share": gettext_lazy("Its container image is not shared with your organisation any more."),
}


def _work_not_started(data: Data) -> Words:
    """Data: `person`, `name` of the first of the day, `lost` (a code)."""
    title = _("Queued work of %(person)s was not started") % {"person": name_in(data, "person")}
    why = str(_RIGHTS_LOST.get(str(data.get("lost")), ""))
    text = _("“%(name)s” was ended when its turn came, and so is what else they have queued. What runs goes on.")
    return Words(title, sentences(why, text % {"name": name_in(data, "name")}), Tone.WARN, "user-off")


def _hook_off(data: Data) -> Words:
    title = _("The webhook %(name)s was switched off") % {"name": name_in(data, "name")}
    text = _("Its receiver has not accepted anything for days. Put it right, then switch it on again.")
    return Words(title, text, Tone.FAIL, "webhook", action=_("Open"), **link(data, "webhooks:detail", "webhook_id"))


KINDS: Mapping[str, Speaker] = {
    "member.invited": _invited,
    "member.joined": _joined,
    "member.removed": _removed,
    "member.leaving": _leaving,
    "member.stays": _stays,
    "member.role_changed": _role_changed,
    "member.work_not_started": _work_not_started,
    "webhook.switched_off": _hook_off,
}
