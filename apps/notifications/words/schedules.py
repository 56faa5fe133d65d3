"""Words about schedules. Data: `schedule_id`, `name`, `count` of refused starts, and `why`, as the last one said."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.words.base import Data, Speaker, Words, link, name_in


def _paused(data: Data) -> Words:
    title = _("The schedule %(name)s has paused itself") % {"name": name_in(data, "name")}
    told = _("%(count)s starts in a row were refused. The last one said:") % {"count": data.get("count")}
    text = sentences(told, str(data.get("why") or ""), _("Resume it once that is mended."))
    where = link(data, "schedules:detail", "schedule_id")
    return Words(title, text, Tone.FAIL, "calendar-off", action=_("See the schedule"), **where)


KINDS: Mapping[str, Speaker] = {"schedule.paused": _paused}
