"""Words about files that were asked for. Data of exports: `what`, `export`, `console` (whose page it leads to)."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.words.base import Data, Speaker, Words


def _export_ready(data: Data) -> Words:
    text = _("It can be fetched for seven days; its last row states the sums.")
    return _export(data, _("Your file is ready"), text, Tone.RUN, "file-spreadsheet")


def _export_failed(data: Data) -> Words:
    text = _("The list of exports says why.")
    return _export(data, _("Your file could not be made"), text, Tone.FAIL, "circle-x")


def _export(data: Data, title: str, text: str, tone: Tone, icon: str) -> Words:
    page = "console:exports" if data.get("console") else "billing:exports"
    return Words(title, text, tone, icon, page=page, action=_("Exports"))


KINDS: Mapping[str, Speaker] = {
    "export.ready": _export_ready,
    "export.failed": _export_failed,
}
