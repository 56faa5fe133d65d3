"""`{% load hardware %}`: words and figures of machines and cards."""

from django import template
from django.utils.translation import gettext as _

from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Node
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
