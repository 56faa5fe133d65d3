"""`{% load hardware %}`: words and figures of machines and cards."""

from django import template
from django.utils.translation import gettext as _

from apps.clusters import fault_words
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator, CardFault, Node
from apps.console.hardware.nodes.selectors import NodeRow, row_from

register = template.Library()


@register.filter
def figure(cards: float) -> str:
    """Whole cards with as many places as an eighth needs: `10.5`, `8.625`, `6`."""
    return f"{cards:.3f}".rstrip("0").rstrip(".")


@register.filter
def short_mode(mode: str) -> str:
    """One word, for the corner of a card."""
    return {
        AcceleratorMode.WHOLE.value: _("whole"),
        AcceleratorMode.SHARED.value: _("shared"),
        AcceleratorMode.VGPU.value: "vGPU",
        AcceleratorMode.MIG.value: "MIG",
    }.get(mode, mode)


@register.filter
def joined(prefix: str, key: object) -> str:
    """`prefix` and a key of any type, for ids of elements."""
    return f"{prefix}{key}"


@register.filter
def node_row(node: Node) -> NodeRow:
    """A row of the list of nodes, as its cells read it."""
    return row_from(node)


@register.filter
def card_trouble(card: Accelerator) -> str:
    """Why the card is not healthy, in two or three words."""
    return fault_words.trouble_title(card)


@register.filter
def card_trouble_text(card: Accelerator) -> str:
    return fault_words.trouble_text(card)


@register.filter
def xid_meaning(fault: CardFault) -> str:
    return fault_words.meaning(fault.code)


@register.filter
def xid_remedy(fault: CardFault) -> str:
    return fault_words.remedy_words(fault)
