"""Losses of the typical mix on idle cards: a table for kinds of one card, counts per node for kinds of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

import numpy as np

from scheduler.cells import Bools, Cells, Ints
from scheduler.demand import piece_size, serves
from scheduler.mix import SCALE
from scheduler.types import WHOLE_MILLI, Device, GpuRequest, Mix, Mode
from scheduler.validate import makes_sense

MOST_CELLS = 1 << 22  # of the table; a mix with more distinct sizes loses its rarest kinds
NEVER = 1 << 60

Need = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MixKind:
    """A kind of task of the mix that asks for cards; `weight` is its share in SCALE-ths."""

    cpu_milli: int
    gpu: GpuRequest
    weight: int

    def need_on(self, card: Device) -> Need | None:
        """(core_milli, memory_mib) of one piece on the card, None if the card cannot serve it.

        Memory is 0 if it follows from compute: for whole cards, and for a vGPU without a memory size.
        """
        if not card.healthy or not serves(card, self.gpu):
            return None
        core, memory = piece_size(card, self.gpu)
        follows = self.gpu.mode is Mode.WHOLE or not (self.gpu.memory_mib or self.gpu.profile)
        return core, 0 if follows else memory


class Cards(Protocol):
    """Some cards: shape [k]; core, memory, value [k, G]."""

    @property
    def shape(self) -> Ints: ...
    @property
    def core(self) -> Ints: ...
    @property
    def memory(self) -> Ints | None: ...
    @property
    def value(self) -> Ints: ...


def counts_as_idle(card: Device) -> bool:
    """Shared and MIG cards are pools of their own and are not part of F."""
    return card.healthy and card.mode in (Mode.WHOLE, Mode.VGPU)


def kinds_of_mix(cells: Cells, mix: Mix | None) -> list[MixKind]:
    """The kinds that request whole cards or vGPUs; only the most frequent ones if there are too many for a table."""
    entries = sorted(mix.entries, key=lambda entry: -entry.share) if mix else []
    kinds = [
        MixKind(entry.cpu_milli, entry.gpu, round(entry.share * SCALE))
        for entry in entries
        if entry.gpu is not None
        and entry.gpu.mode in (Mode.WHOLE, Mode.VGPU)
        and makes_sense(entry.cpu_milli, entry.gpu)
    ]
    alike = {(card.model, card.mode, card.healthy, card.memory_mib): card for shape in cells.shapes for card in shape}
    while _table_size(kinds, alike.values()) > MOST_CELLS:
        kinds = kinds[: len(kinds) * 3 // 4]
    return kinds


def _table_size(kinds: Sequence[MixKind], cards: Iterable[Device]) -> int:
    needs = [[kind.need_on(card) for kind in kinds] for card in cards]
    return prod(len(steps) + 1 for steps in _steps(kinds, needs)) * (len(set(map(tuple, needs))) + 1)


def _steps(kinds: Sequence[MixKind], needs: Iterable[Iterable[Need | None]]) -> tuple[Ints, Ints, Ints]:
    """The distinct sizes that the mix requests, ascending: CPU, card memory, card compute."""
    sizes = {need for row in needs for need in row if need is not None}
    memory = {memory for _, memory in sizes} - {0}
    return _sorted({kind.cpu_milli for kind in kinds}), _sorted(memory), _sorted({core for core, _ in sizes})


def _sorted(sizes: Iterable[int]) -> Ints:
    return np.array(sorted(sizes), np.int64)


def _step(steps: Ints, value: int) -> int:
    return int(np.searchsorted(steps, value, side="right"))


class LossTable:
    """Per card: the share of the mix (SCALE = all of it) that cannot use an idle card.

    One table per sort of card (which requests it serves), over steps of node CPU, card memory and card compute.
    """

    def __init__(self, cells: Cells, kinds: Sequence[MixKind]) -> None:
        known: dict[tuple[Need | None, ...], int] = {(None,) * len(kinds): 0}
        sort = cells.numbers(lambda card: known.setdefault(tuple(kind.need_on(card) for kind in kinds), len(known)))
        self._cpu, self._memory, core = steps = _steps(kinds, known)
        table = np.full((len(known), *(len(sizes) + 1 for sizes in steps)), SCALE, np.int64)
        for needs, index in known.items():
            for kind, need in zip(kinds, needs, strict=True):
                if need is not None:
                    at = _step(self._cpu, kind.cpu_milli), _step(self._memory, need[1]), _step(core, need[0])
                    table[index, at[0] :, at[1] :, at[2] :] -= kind.weight
        self._table = table.ravel()
        self._cores, self._level = table.shape[3], table.shape[2] * table.shape[3]
        self._core = np.searchsorted(core, np.arange(WHOLE_MILLI + 1), side="right")  # [1001]: step by free compute
        self._sort: Ints = sort * (table.shape[1] * self._level)

    @property
    def size(self) -> int:
        return len(self._table)

    @property
    def tracks_memory(self) -> bool:
        return len(self._memory) > 0

    def code(self, shape: Ints, core: Ints, memory: Ints | None) -> Ints:
        """[k, G]: the cards' index in the table, without the step for free CPU."""
        code = self._core.take(core, mode="clip")
        code += self._sort[shape]
        if memory is not None and self.tracks_memory:
            code += self._memory.searchsorted(memory, side="right") * self._cores
        return code

    def lost(self, value: Ints, code: Ints, cpu: Ints) -> Ints:
        """[c, k, G]: idle GPU-milli times the share of the mix that cannot use them with this much free CPU, [c, k]."""
        step = self._cpu.searchsorted(cpu, side="right")
        step *= self._level
        lost: Ints = self._table.take(step[:, :, None] + code)
        lost *= value
        return lost


class MultiCardLosses:
    """Kinds of several cards, as J distinct requests per card; kinds of one request differ in CPU and card count.

    `_weight`: [J, steps of CPU, cards + 1], the weight of the kinds that this CPU and these cards suffice for.
    """

    def __init__(self, cells: Cells, kinds: Sequence[MixKind]) -> None:
        pieces = list(dict.fromkeys(_one_card(kind) for kind in kinds))
        self._cpu = _sorted({kind.cpu_milli for kind in kinds})
        needs = [_needs(cells, piece) for piece in pieces]
        self._core = np.array([core for core, _ in needs])
        self._memory = np.array([memory for _, memory in needs])
        self._weight = np.zeros((len(pieces), len(self._cpu) + 1, cells.width + 1), np.int64)
        for kind in kinds:
            self._weight[pieces.index(_one_card(kind)), _step(self._cpu, kind.cpu_milli) :, kind.gpu.count :] += (
                kind.weight
            )
        self._pieces = np.arange(len(pieces))

    @property
    def tracks_memory(self) -> bool:
        return bool((self._memory > 0).any())

    def useful(self, cards: Cards, cpu: Ints, kept: Bools | None = None) -> Ints:
        """[c, k]: idle GPU-milli times the weight of the kinds that can use them with this much free CPU, [c, k].

        `kept` [k, G]: the cards that count in the last of them.
        """
        fits = self._fits(cards)
        all_fits = [fits] * len(cpu) if kept is None else [*[fits] * (len(cpu) - 1), fits & kept]
        return np.array([self._useful(some, cards, left) for some, left in zip(all_fits, cpu, strict=True)])

    def _useful(self, fits: Bools, cards: Cards, cpu: Ints) -> Ints:
        useful = np.add.reduce(fits * cards.value, axis=2)
        step = self._cpu.searchsorted(cpu, side="right")
        weight = self._weight[self._pieces[:, None], step, np.add.reduce(fits, axis=2, dtype=np.int64)]
        return np.asarray(np.add.reduce(weight * useful, axis=0))

    def useful_after(self, cards: Cards, cut: Cards, cpu: Ints) -> Ints:
        """[k, G]: the same with each card in turn replaced by its state in `cut`."""
        before, after = self._fits(cards), self._fits(cut)
        useful_before = before * cards.value
        useful = after * cut.value - useful_before + np.add.reduce(useful_before, axis=2)[:, :, None]
        fitting = np.add.reduce(before, axis=2, dtype=np.int64)[:, :, None] - before + after
        step = self._cpu.searchsorted(cpu, side="right")
        weight = self._weight[self._pieces[:, None, None], step[:, None], fitting]
        return np.asarray(np.add.reduce(weight * useful, axis=0))

    def _fits(self, cards: Cards) -> Bools:
        """[J, k, G]: cards on which the request fits."""
        fits: Bools = cards.core >= self._core[:, cards.shape]
        return fits & (cards.memory >= self._memory[:, cards.shape]) if cards.memory is not None else fits


def _one_card(kind: MixKind) -> MixKind:
    """The kind's request per card, equal for all kinds that differ only in CPU and number of cards."""
    return MixKind(0, replace(kind.gpu, count=1), 0)


def _needs(cells: Cells, kind: MixKind) -> tuple[Ints, Ints]:
    """[S, G] each: the compute and memory of a piece on each card; compute is NEVER on cards that cannot serve it."""
    return (
        np.where(
            cells.flags(lambda card: kind.need_on(card) is not None),
            cells.numbers(lambda card: (kind.need_on(card) or (0, 0))[0]),
            NEVER,
        ),
        cells.numbers(lambda card: (kind.need_on(card) or (0, 0))[1]),
    )
