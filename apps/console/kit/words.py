"""Amounts and channels that several rooms name."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.formatting import cores

CHANNELS: dict[str, str | Promise] = {
    "web": _("Web"),
    "api": _("API"),
    "task": _("Platform"),
    "command": _("Command line"),
}


def core_words(milli: int) -> str:
    """`1 core`, `0.5 cores`, `14 cores` for thousandths of a core."""
    return ngettext("%(count)s core", "%(count)s cores", 1 if milli == 1000 else 2) % {"count": cores(milli)}
