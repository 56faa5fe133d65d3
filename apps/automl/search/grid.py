"""Every point of the grid once, in an order that is scattered over it."""

import random
from collections.abc import Iterator, Mapping

from apps.automl.search.inquiry import Answer, Inquiry, Suggestion
from apps.automl.search.space import Grid, Value

ROUNDS = 4


def ask(inquiry: Inquiry) -> Answer:
    """Points that no past trial has, whatever became of it: what was tried is read off the trials alone."""
    grid = Grid(inquiry.space)
    tried = {_key(trial.values) for trial in inquiry.past}
    suggestions: list[Suggestion] = []
    exhausted = True
    for rank in scattered(grid.size, inquiry.seed):
        values = grid.point(rank)
        if _key(values) in tried:
            continue
        if len(suggestions) == inquiry.count:
            exhausted = False
            break
        suggestions.append(Suggestion(values=values))
    return Answer(suggestions=tuple(suggestions), exhausted=exhausted)


def scattered(size: int, seed: int) -> Iterator[int]:
    """0 to size - 1 in an order that looks random, without holding it: a Feistel network that walks back into range.

    The order has to be the same in each process; a shuffled list would be too, at the price of making it each time.
    """
    half = max((size - 1).bit_length() + 1, 2) // 2
    mask = (1 << half) - 1
    keys = [random.Random(f"{seed}/{number}").getrandbits(64) for number in range(ROUNDS)]  # noqa: S311
    for at in range(1 << (2 * half)):
        left, right = at >> half, at & mask
        for key in keys:
            left, right = right, left ^ (_mix(right ^ key) & mask)
        place = left << half | right
        if place < size:
            yield place


def _mix(number: int) -> int:
    """The finaliser of SplitMix64."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    number = (number ^ number >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return number ^ number >> 31


def _key(values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(values.items()))
