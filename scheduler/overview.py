"""Use of cards by model: used, idle, too fragmented for any package, offline. For the console's queue page."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scheduler.cells import Bools, Cells, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand
from scheduler.types import WHOLE_MILLI


@dataclass(frozen=True, slots=True)
class ModelUse:
    """All cards of one model. Milli-cards; `fragment_milli` is the part of `idle_milli` that no package fits on.

    `most_whole` is the largest number of idle whole cards on one node.
    """

    model: str
    cards: int
    used_milli: int
    idle_milli: int
    fragment_milli: int
    offline_cards: int
    most_whole: int


def use_by_model(cells: Cells, packages: Iterable[Demand]) -> tuple[ModelUse, ...]:
    """One line per model, by name. `packages`: the offered packages, as request classes."""
    models = sorted({card.model for cards in cells.shapes for card in cards})
    online = cells.open[:, None] & cells.flags(lambda card: card.healthy)[cells.shape]
    idle = np.clip(cells.core, 0, WHOLE_MILLI)
    useful = usable_cards(cells, packages)
    return tuple(_line(cells, model, online, idle, useful) for model in models)


def usable_cards(cells: Cells, packages: Iterable[Demand]) -> Bools:
    """[N, G]: cards on which at least one package could start now."""
    rows = np.arange(len(cells))
    useful = np.zeros_like(cells.core, np.bool_)
    for demand in packages:
        ok, fit = RequestClass(cells, demand).room(rows)
        if fit is not None:
            useful |= fit & ok[:, None]
    return useful


def _line(cells: Cells, model: str, online: Bools, idle: Ints, useful: Bools) -> ModelUse:
    here: Bools = cells.flags(lambda card: card.model == model)[cells.shape]
    up = here & online
    whole = up & (cells.tenants == 0) & (cells.core >= WHOLE_MILLI)
    idle_milli = int(idle[up].sum())
    return ModelUse(
        model,
        int(here.sum()),
        int(up.sum()) * WHOLE_MILLI - idle_milli,
        idle_milli,
        int(idle[up & ~useful].sum()),
        int((here & ~online).sum()),
        int(whole.sum(1).max(initial=0)),
    )
