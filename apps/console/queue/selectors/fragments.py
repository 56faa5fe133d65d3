"""What is free and what of it nobody can use, by card model: where the pieces are and what would still fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import scheduler
from apps.billing.models import Package
from apps.console.queue.selectors.board import Board, Offer
from apps.console.queue.selectors.focus import Focus
from scheduler.cells import Bools
from scheduler.columns import RequestClass
from scheduler.demand import Demand
from scheduler.mix import gpu_milli
from scheduler.overview import ModelUse

SPOTS = 3


@dataclass(frozen=True, slots=True)
class Spot:
    """An idle piece of a card that no package fits on. `starved`: the card would do, its node's CPU or memory not."""

    node_id: str
    node: str
    index: int
    mode: scheduler.Mode
    idle_milli: int
    free_memory_mib: int
    starved: bool


@dataclass(frozen=True, slots=True)
class ModelLine:
    """All cards of one model, in thousandths of a card.

    `offered`: some package on offer could use such a card; where none could, nothing that is idle is called a fragment.
    `spots`: the largest fragments, of `pieces` in all. `largest`: the biggest package that would start now.
    `most_whole`: the most cards of one node that could be given whole now, by their mode and health.
    """

    use: ModelUse
    offered: bool
    fragment_milli: int
    starved_milli: int
    spots: tuple[Spot, ...]
    pieces: int
    largest: Package | None
    most_whole: int

    @property
    def free_milli(self) -> int:
        """Idle, and of use."""
        return self.use.idle_milli - self.fragment_milli

    @property
    def offline_milli(self) -> int:
        return self.use.offline_cards * scheduler.WHOLE_MILLI

    @property
    def total_milli(self) -> int:
        return self.use.cards * scheduler.WHOLE_MILLI


@dataclass(frozen=True, slots=True)
class Totals:
    """Thousandths of cards: in reach (`up`), held, idle, of no use, and of those `starved` of CPU or memory."""

    up_milli: int
    used_milli: int
    free_milli: int
    fragment_milli: int
    starved_milli: int
    offline_cards: int

    @property
    def allocated_pct(self) -> float | None:
        return _pct(self.used_milli, self.up_milli)

    @property
    def fragmented_pct(self) -> float | None:
        return _pct(self.fragment_milli, self.up_milli)


def lines(focus: Focus, board: Board) -> list[ModelLine]:
    """One line per model of the focus, by name."""
    return [_line(board, use) for use in board.use if focus.model in ("", use.model)]


def totals(found: Sequence[ModelLine]) -> Totals:
    return Totals(
        up_milli=sum(line.use.used_milli + line.use.idle_milli for line in found),
        used_milli=sum(line.use.used_milli for line in found),
        free_milli=sum(line.free_milli for line in found),
        fragment_milli=sum(line.fragment_milli for line in found),
        starved_milli=sum(line.starved_milli for line in found),
        offline_cards=sum(line.use.offline_cards for line in found),
    )


def fragments(board: Board) -> Bools:
    """[N, G]: idle cards that no package fits on, of models that some package is made for."""
    offered = np.zeros_like(board.useful)
    for use in board.use:
        if _offers_for(board, use.model):
            offered |= board.model(use.model)
    return np.asarray(offered & (board.idle > 0) & ~board.useful)


def _line(board: Board, use: ModelUse) -> ModelLine:
    here = board.model(use.model)
    offers = _offers_for(board, use.model)
    lost = here & (board.idle > 0) & ~board.useful if offers else np.zeros_like(here)
    return ModelLine(
        use=use,
        offered=bool(offers),
        fragment_milli=int(board.idle[lost].sum()),
        starved_milli=int(board.idle[lost & board.starved].sum()),
        spots=tuple(_spots(board, lost)),
        pieces=int(lost.sum()),
        largest=_largest(board, offers, here),
        most_whole=_most_whole(board, use.model),
    )


def _offers_for(board: Board, model: str) -> list[Offer]:
    return [offer for offer in board.offers if offer.demand.gpu is not None and offer.demand.gpu.accepts(model)]


def _spots(board: Board, lost: Bools) -> Iterator[Spot]:
    """The largest pieces, the first of equals."""
    rows, columns = np.nonzero(lost)
    for at in np.argsort(-board.idle[rows, columns], kind="stable")[:SPOTS]:
        row, column = int(rows[at]), int(columns[at])
        card = board.cells.cards[row][column]
        yield Spot(
            node_id=board.cells.nodes[row].id,
            node=board.names[row],
            index=card.index,
            mode=card.mode,
            idle_milli=int(board.idle[row, column]),
            free_memory_mib=int(board.cells.card_memory[row, column]),
            starved=bool(board.starved[row, column]),
        )


def _largest(board: Board, offers: Sequence[Offer], here: Bools) -> Package | None:
    """The package with the most compute, then memory, that some node with such cards could start now."""
    for offer in sorted(offers, key=_size, reverse=True):
        ok, fit = RequestClass(board.cells, offer.demand).room(np.arange(len(board.cells)))
        if fit is not None and bool((ok & ((fit & here).sum(1) >= offer.demand.cards)).any()):
            return offer.package
    return None


def _most_whole(board: Board, model: str) -> int:
    """Asked of the scheduler: an idle card that is cut by MIG, or shared, is not given whole."""
    request = scheduler.GpuRequest(scheduler.Mode.WHOLE, model=model)
    whole = Demand(0, 0, request, entitled=board.cells.reserved_clusters)
    _ok, fit = RequestClass(board.cells, whole).room(np.arange(len(board.cells)))
    return int((fit & board.online).sum(1).max(initial=0)) if fit is not None else 0


def _size(offer: Offer) -> tuple[int, int]:
    gpu = offer.demand.gpu
    return gpu_milli(gpu), gpu.memory_mib * gpu.count if gpu is not None else 0


def _pct(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
