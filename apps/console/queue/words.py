"""Words of the queue's pages: causes in a few words, figures in cards, spans of the timeline."""

from collections.abc import Mapping, Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

import scheduler
from apps.common.formatting import gpu_memory
from scheduler import CauseCode

CAUSES: Mapping[str, str | Promise] = {
    "": gettext_lazy("not looked at yet"),
    "isolation": gettext_lazy("machine kept for another organisation"),
    CauseCode.NO_NODES: gettext_lazy("no machine"),
    CauseCode.ZONE: gettext_lazy("no machine in the zone"),
    CauseCode.CLUSTER: gettext_lazy("no machine in the cluster"),
    CauseCode.RESERVED: gettext_lazy("machines reserved for others"),
    CauseCode.ARCH: gettext_lazy("no machine of that kind"),
    CauseCode.RDMA: gettext_lazy("no machine with RDMA"),
    CauseCode.NO_SUCH_MODEL: gettext_lazy("no such card"),
    CauseCode.NO_SUCH_MODE: gettext_lazy("no card split that way"),
    CauseCode.NEVER_FITS: gettext_lazy("too large for every machine"),
    CauseCode.NODE_UNSCHEDULABLE: gettext_lazy("machines closed"),
    CauseCode.NODE_UNHEALTHY: gettext_lazy("machines silent"),
    CauseCode.RDMA_DOWN: gettext_lazy("RDMA links down"),
    CauseCode.CPU: gettext_lazy("CPU short"),
    CauseCode.MEMORY: gettext_lazy("memory short"),
    CauseCode.DEVICES: gettext_lazy("cards short"),
    CauseCode.SLICES: gettext_lazy("slices short"),
    CauseCode.GANG: gettext_lazy("not room for all members"),
    CauseCode.QUOTA: gettext_lazy("quota used up"),
    CauseCode.FAIR_SHARE: gettext_lazy("others' turn first"),
    CauseCode.BEHIND_RESERVATION: gettext_lazy("behind a reservation"),
    CauseCode.WAITING_FOR_VICTIMS: gettext_lazy("others are giving way"),
    CauseCode.BAD_REQUEST: gettext_lazy("invalid request"),
}

MODES: Mapping[str, str | Promise] = {
    scheduler.Mode.WHOLE: pgettext_lazy("card", "whole"),
    scheduler.Mode.SHARED: pgettext_lazy("card", "shared"),
    scheduler.Mode.VGPU: "vGPU",
    scheduler.Mode.MIG: "MIG",
}


def cause_words(cause: str) -> str:
    """A cause in a few words; the code itself where there are none."""
    return str(CAUSES.get(cause, cause))


def causes_words(causes: Sequence[tuple[str, int]], most: int = 4) -> str:
    """`cards short 3 · behind a reservation 1`; what is left over at the end as one number."""
    shown = [_("%(cause)s %(count)s") % {"cause": cause_words(c), "count": f"{n:,}"} for c, n in causes[:most]]
    rest = sum(count for _cause, count in causes[most:])
    return " · ".join([*shown, _("others %(count)s") % {"count": f"{rest:,}"}] if rest else shown)


def cards_figure(milli: float) -> str:
    """Thousandths of a card as cards: `10.5`, `0.125`, `1,024`."""
    text = f"{milli / scheduler.WHOLE_MILLI:,.3f}"
    return text.rstrip("0").rstrip(".")


def request_words(gpu: scheduler.GpuRequest | None) -> str:
    """`4 × H200`, `1 × A100 · vGPU 20 GB`, `CPU only`."""
    if gpu is None:
        return _("CPU only")
    model = gpu.model or " / ".join(gpu.any_of) or _("any GPU")
    cut = {
        scheduler.Mode.WHOLE: "",
        scheduler.Mode.MIG: f"MIG {gpu.profile}",
        scheduler.Mode.VGPU: f"vGPU {gpu.profile or gpu_memory(gpu.memory_mib)}",
        scheduler.Mode.SHARED: _("shared %(size)s") % {"size": gpu_memory(gpu.memory_mib)},
    }[gpu.mode]
    return " · ".join(filter(None, [f"{gpu.count} × {model}", cut]))


def cards_words(first: int, last: int) -> str:
    """Which cards of a node: `card 4`, `cards 0–3`."""
    if first == last:
        return _("card %(number)s") % {"number": first}
    return _("cards %(first)s–%(last)s") % {"first": first, "last": last}
