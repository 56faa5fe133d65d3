"""How a card may be partitioned: what its node discovered, in the scheduler's terms. Implausible data is ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import scheduler
from apps.clusters.card_links import distance
from apps.clusters.cards import MigCut
from apps.clusters.models import Accelerator
from scheduler.mig import profiles_of, table_for

# Memory slices of the largest card; the scheduler's masks have as many bits.
SLICES = 8


def as_json(cuts: Sequence[MigCut] | None) -> list[dict[str, Any]] | None:
    """For the card's row; None for a geometry that was not reported or is implausible."""
    if cuts is None or not all(_sensible(cut) for cut in cuts) or len({cut.name for cut in cuts}) < len(cuts):
        return None
    return [asdict(cut) for cut in cuts]


def _sensible(cut: MigCut) -> bool:
    numbers = (*cut.starts, cut.size, cut.compute, cut.memory_mib, cut.maximum)
    if not cut.name or len(cut.name) > 24 or not all(type(number) is int and number >= 0 for number in numbers):
        return False
    within = all(start + cut.size <= SLICES for start in cut.starts)
    return bool(cut.starts) and cut.size > 0 and within and cut.maximum > 0 and cut.memory_mib > 0


def discovered_profiles(card: Accelerator) -> tuple[scheduler.MigProfile, ...] | None:
    """What the node found on this card; None if it could not look."""
    if card.mig_profiles is None:
        return None
    return tuple(scheduler.MigProfile(**{**cut, "starts": tuple(cut["starts"])}) for cut in card.mig_profiles)


def profiles(card: Accelerator) -> tuple[scheduler.MigProfile, ...]:
    """What the card may be partitioned into: as discovered, else by the table for its model."""
    if card.vendor != "nvidia":
        return ()
    return profiles_of(device(card))


def is_discovered(card: Accelerator) -> bool:
    return card.mig_profiles is not None


def can_mig(card: Accelerator) -> bool:
    """Whether the card supports MIG."""
    found = discovered_profiles(card)
    known = table_for(card.model, card.memory_mib) if found is None else found
    return card.vendor == "nvidia" and bool(known)


def devices(cards: Sequence[Accelerator]) -> tuple[scheduler.Device, ...]:
    """All cards of one node, with how far they are from each other."""
    ids = {card.uuid: str(card.pk) for card in cards}
    return tuple(replace(device(card), near=_near(card, ids)) for card in cards)


def _near(card: Accelerator, ids: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    told = ((ids.get(peer), distance(link)) for peer, link in sorted(card.links.items()))
    return tuple((peer, far) for peer, far in told if peer is not None and far is not None)


def device(card: Accelerator) -> scheduler.Device:
    """The card as the scheduler sees it. If nothing enforces the limits of slices any more, none are offered."""
    return scheduler.Device(
        id=str(card.pk),
        index=card.index,
        vendor=card.vendor,
        model=card.model,
        memory_mib=card.memory_mib,
        mode=scheduler.Mode(card.mode),
        healthy=card.healthy and card.keeps_its_limits,
        mig_profiles=discovered_profiles(card),
        share_milli=card.share_milli,
    )
