"""What is missing on the machine that comes closest, in words: the one kind of cause that waiting removes by itself."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.formatting import gpu_memory, memory, sentences
from apps.workloads.explaining.cases import Case, Words
from scheduler import CauseCode, Mode


def deficit_words(case: Case) -> str:
    """The deficit in what the cause names: "1.5 CPU cores", "2 GiB of memory", "1 H200"; "" for other causes."""
    known = _SHORT.get(case.cause)
    return known(case) if known else ""


def shortage(case: Case) -> Words:
    """Title with the machine where it is known; in lists the amount alone."""
    short = deficit_words(case)
    title = _("%(node)s is short of %(short)s") % {"node": case.names.node, "short": short}
    if not case.names.node:
        title = _("Short of %(amount)s") % {"amount": short}
    return Words(title, sentences(_needs(case), _as_close(case), would_start_words(case)))


def _needs(case: Case) -> str:
    """What one machine has to have, for requests of several cards."""
    if case.gpu is None or case.gpu.count < 2:
        return ""
    free = max(0, case.gpu.count - int(case.nearest.get("devices") or 0))
    if case.gpu.mode == Mode.WHOLE:
        words = ngettext(
            "It takes %(count)s whole cards of one machine; %(free)s is free there now.",
            "It takes %(count)s whole cards of one machine; %(free)s are free there now.",
            free,
        )
    else:
        words = ngettext(
            "It takes a piece on each of %(count)s cards of one machine; %(free)s has room now.",
            "It takes a piece on each of %(count)s cards of one machine; %(free)s have room now.",
            free,
        )
    return words % {"count": case.gpu.count, "free": free}


def _as_close(case: Case) -> str:
    others = int(case.nearest.get("nodes") or 1) - 1
    if others < 1:
        return ""
    words = ngettext("%(count)s other machine is as close.", "%(count)s other machines are as close.", others)
    return words % {"count": others}


def would_start_words(case: Case) -> str:
    if case.asked:
        return _("It would start as soon as something ends and frees enough.")
    if case.reserved:
        return _("Room there is reserved for it, from when enough is freed.")
    return _("It starts as soon as something ends and frees enough.")


def _short_cpu(case: Case) -> str:
    amount = int(case.nearest.get("cpu_milli") or case.params.get("cpu_short_milli") or 0)
    one = amount == 1000
    return ngettext("%(cores)s CPU core", "%(cores)s CPU cores", 1 if one else 2) % {"cores": f"{amount / 1000:g}"}


def _short_memory(case: Case) -> str:
    amount = case.nearest.get("memory_mib") or case.params.get("memory_short_mib") or 0
    return _("%(amount)s of memory") % {"amount": memory(amount)}


def _short_devices(case: Case) -> str:
    count = int(case.nearest.get("devices") or case.params.get("devices_short") or 1)
    if case.gpu is not None and case.gpu.model:
        return f"{count} × {case.gpu.model}"
    return ngettext("%(count)s GPU", "%(count)s GPUs", count) % {"count": count}


def _short_slices(case: Case) -> str:
    """Of one slice what it lacks: memory or compute of a card; of several, how many."""
    count = int(case.nearest.get("devices") or case.params.get("devices_short") or 1)
    mib = case.nearest.get("device_memory_mib") or case.params.get("device_memory_short_mib")
    milli = case.nearest.get("core_milli") or case.params.get("core_short_milli")
    if count == 1 and mib:
        return _("%(amount)s of GPU memory on a card") % {"amount": gpu_memory(mib)}
    if count == 1 and milli:
        return _("%(share)s%% of a card's compute") % {"share": f"{milli / 10:g}"}
    if case.gpu is not None and case.gpu.profile:
        return f"{count} × {case.gpu.profile}"
    return ngettext("%(count)s slice of a card", "%(count)s slices of cards", count) % {"count": count}


_SHORT: Mapping[str, Callable[[Case], str]] = {
    CauseCode.CPU: _short_cpu,
    CauseCode.MEMORY: _short_memory,
    CauseCode.DEVICES: _short_devices,
    CauseCode.SLICES: _short_slices,
}
