"""What the platform's processes are called."""

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

NAMES: dict[str, str | Promise] = {
    "web": pgettext_lazy("process", "Pages and API"),
    "gateway": pgettext_lazy("process", "Gateway to workloads"),
    "worker": pgettext_lazy("process", "Task worker"),
    "scheduler": pgettext_lazy("process", "Scheduler"),
    "beat": pgettext_lazy("process", "Timer of tasks"),
    "files": pgettext_lazy("process", "File jobs"),
    "ssh": pgettext_lazy("process", "SSH access"),
    "supervisor": pgettext_lazy("process", "Supervisor"),
}


def name_of(kind: str) -> str:
    """In the reader's language; a kind that this version does not know is called as it calls itself.

    Of several processes of a kind, the second is `web-2`.
    """
    first, _dash, number = kind.partition("-")
    known = str(NAMES.get(first, first))
    return f"{known} {number}" if number else known
