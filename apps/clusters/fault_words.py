"""Words for why a card takes no new work, and for what its faults mean and ask for, in the reader's language."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from apps.clusters.card_fault import CardFault
from apps.clusters.cards import Trouble
from apps.clusters.kernel_log import Unread
from apps.clusters.models import Accelerator
from apps.clusters.xids import RECOVERY_CHANGED, Remedy

# Of a card: in two or three words, and what it means.
TROUBLES: Mapping[str, tuple[str | Promise, str | Promise]] = {
    Trouble.LOST: (
        gettext_lazy("Fell off the bus"),
        gettext_lazy(
            "The driver cannot reach it any more. Restart the machine; if it happens again, have the card, its slot "
            "and its power checked."
        ),
    ),
    Trouble.RESET: (
        gettext_lazy("Needs a reset"),
        gettext_lazy("Its driver wants it reset: empty it, then run nvidia-smi --gpu-reset, or restart the machine."),
    ),
    Trouble.RESTART: (
        gettext_lazy("Needs a restart"),
        gettext_lazy("Its driver wants the machine restarted. Drain the node first."),
    ),
    Trouble.UNREAD: (
        gettext_lazy("Cannot be read"),
        gettext_lazy("Its driver lists it and answers with an error. The node's facts say which."),
    ),
    Trouble.DRIVER: (
        pgettext_lazy("card", "Unhealthy"),
        gettext_lazy("Its driver calls it unhealthy. The vendor's own tools say more."),
    ),
    Trouble.LIBRARY: (
        gettext_lazy("Driver fails"),
        gettext_lazy(
            "NVIDIA's library fails on this machine, for all its cards. After an upgrade of the driver, restart the "
            "machine. The node's facts say how it fails."
        ),
    ),
    Trouble.ABSENT: (
        gettext_lazy("Does not answer"),
        gettext_lazy("Its driver does not list it any more: it was taken out, or its driver does not load."),
    ),
    Trouble.CUT: (
        gettext_lazy("Cut by hand"),
        gettext_lazy("Somebody switched MIG on outside of the platform. Switch it off again with nvidia-smi -mig 0."),
    ),
    Trouble.FAULT: (
        gettext_lazy("Reported a fault"),
        gettext_lazy("Its driver reported a fault after which it is not to be relied upon; see below."),
    ),
}

REMEDIES: Mapping[str, str | Promise] = {
    Remedy.NOTHING: gettext_lazy("Nothing has to be done now. If it comes again and again, ask the card's vendor."),
    Remedy.APP: gettext_lazy("The card goes on. The program that it hit has to be started again."),
    Remedy.RESET: gettext_lazy(
        "Empty the card, stop what watches it, and run nvidia-smi --gpu-reset, or restart the machine."
    ),
    Remedy.RESTART: gettext_lazy("Restart the machine; the driver cannot bring the card back by itself."),
}

UNREAD: Mapping[str, str | Promise] = {
    Unread.ABSENT: gettext_lazy(
        "The kernel's log is not there, as in a container. Run the platform or its agent on the machine itself to see "
        "faults."
    ),
    Unread.DENIED: gettext_lazy(
        "The kernel's log may be read by root only. Run the platform or its agent as root, or give it CAP_SYSLOG, to "
        "see faults."
    ),
    Unread.FAILED: gettext_lazy("The kernel's log cannot be read."),
}

_COPY_ENGINE = gettext_lazy("An error while data was copied to or from the card")
_VIDEO = gettext_lazy("An error in a video or image unit of the card")
_NVLINK = gettext_lazy("An error on an NVLink between cards")
# After NVIDIA's catalogue, in words for who runs machines.
XIDS: Mapping[int, str | Promise] = {
    8: gettext_lazy("The program's work on the card did not end in time"),
    13: gettext_lazy("The program computed something that the card refuses: a wrong address or instruction"),
    25: gettext_lazy("The program sent commands that make no sense"),
    31: gettext_lazy("The program reached for memory that it does not have (page fault)"),
    32: gettext_lazy("The program's commands arrived corrupted"),
    **dict.fromkeys((39, 40, 41, *range(70, 73), *range(75, 78), 85, *range(126, 136)), _COPY_ENGINE),
    43: gettext_lazy("The program made an error and its work on the card was ended"),
    45: gettext_lazy("The program's work was cleared off the card, because it was ended or after an earlier fault"),
    46: gettext_lazy("The card stopped computing"),
    48: gettext_lazy("A memory error that could not be corrected (double-bit ECC)"),
    62: gettext_lazy("A controller inside the card halted"),
    63: gettext_lazy("Faulty memory was replaced by spare memory; it takes effect at the next reset"),
    64: gettext_lazy("Faulty memory could not be replaced by spare memory"),
    **dict.fromkeys((60, 68, *range(82, 85), 86, 88, 89, *range(96, 106), 139), _VIDEO),
    69: gettext_lazy("The program sent a command that the card does not know"),
    **dict.fromkeys((74, 136, *range(144, 151), 155), _NVLINK),
    79: gettext_lazy("The card fell off the bus: the machine cannot reach it any more"),
    80: gettext_lazy("Data arrived at the card corrupted"),
    92: gettext_lazy("Many small memory errors were corrected (single-bit ECC)"),
    94: gettext_lazy("A memory error, contained: only the program that met it was hit"),
    95: gettext_lazy("A memory error that was not contained: any program on the card may be hit"),
    109: gettext_lazy("The card did not change from one program to the next in time"),
    110: gettext_lazy("A security fault of the card"),
    119: gettext_lazy("The card's own processor (GSP) does not answer"),
    120: gettext_lazy("An error on the card's own processor (GSP)"),
    121: gettext_lazy("Errors between card and CPU were corrected (C2C)"),
    137: gettext_lazy("The program reached over NVLink for memory that it may not use"),
    140: gettext_lazy("Memory errors that the driver could not deal with"),
    143: gettext_lazy("The card could not be started"),
    151: gettext_lazy("Keys of confidential computing could not be renewed"),
    RECOVERY_CHANGED: gettext_lazy("The driver changed what it wants done with the card"),
    156: gettext_lazy("A faulty part of the card was retired; it takes effect at the next reset"),
    157: gettext_lazy("A faulty part of the card could not be retired"),
    158: gettext_lazy("The card did not answer in time, for good"),
}


def meaning(code: int) -> str:
    """What an XID means, in a sentence without its point."""
    known = XIDS.get(code)
    return str(known) if known else _("A fault that only NVIDIA's catalogue of XIDs explains")


def remedy_words(fault: CardFault) -> str:
    return str(REMEDIES[fault.remedy]) if fault.remedy in REMEDIES else ""


def trouble_title(card: Accelerator) -> str:
    """Why the card is not healthy, in two or three words."""
    return str(_trouble(card)[0])


def trouble_text(card: Accelerator) -> str:
    """What that means and what to do; "" for a healthy card."""
    return "" if card.healthy else str(_trouble(card)[1])


def _trouble(card: Accelerator) -> tuple[str | Promise, str | Promise]:
    # A row of before reasons were kept has none.
    return TROUBLES.get(card.trouble) or TROUBLES[Trouble.ABSENT]


def unread_words(code: str) -> str:
    """Why faults of cards cannot be seen; "" where they can."""
    return str(UNREAD[code]) if code in UNREAD else ""
