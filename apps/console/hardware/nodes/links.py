"""How the cards of a node are connected, as a small matrix on its page."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.clusters.models import Accelerator

ITSELF, UNKNOWN = "×", "—"


@dataclass(frozen=True, slots=True)
class LinkRow:
    """`links`: to each card in the order of the rows (`NV18`, `PIX`, … as `nvidia-smi topo -m` writes them)."""

    card: Accelerator
    links: tuple[str, ...]


def link_rows(cards: Sequence[Accelerator]) -> list[LinkRow]:
    """One for each card; none where nothing is known of any."""
    if not any(card.links or card.pci or card.numa is not None for card in cards):
        return []
    return [
        LinkRow(one, tuple(ITSELF if one is other else one.links.get(other.uuid, UNKNOWN) for other in cards))
        for one in cards
    ]
