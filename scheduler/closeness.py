"""Which of a node's free cards are nearest to each other, for members that ask for several whole cards."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

from scheduler.types import Device

Distances = tuple[tuple[int, ...], ...]
FAR = 1000  # of cards of which nobody knows how they are connected
MOST_SETS = 2000  # that are compared one by one; of more, a good one is built card by card


def distances_between(cards: Sequence[Device]) -> Distances | None:
    """[G, G]: the distance of each card to each other one by column, 0 to itself; None where none is known."""
    if not any(card.near for card in cards):
        return None
    column_of = {card.id: column for column, card in enumerate(cards)}
    told = [[0 if one == other else FAR for other in range(len(cards))] for one in range(len(cards))]
    for one, card in enumerate(cards):
        for peer, distance in card.near:
            other = column_of.get(peer, one)
            if other != one and 0 <= distance < min(told[one][other], FAR):
                told[one][other] = told[other][one] = distance
    return tuple(map(tuple, told))


def apart(distances: Distances, chosen: Sequence[int]) -> tuple[int, int]:
    """How bad a set of columns is: its worst link first, since the slowest one paces a ring; then all its links."""
    between = [distances[one][other] for one, other in combinations(chosen, 2)]
    return max(between, default=0), sum(between)


@lru_cache(maxsize=8192)
def closest(distances: Distances, free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """`count` of the `free` columns that are nearest to each other, in ascending order; of equals the first ones.

    The best set where there are at most MOST_SETS of them: any count of eight cards, and up to four of sixteen.
    """
    if comb(len(free), count) <= MOST_SETS:
        return min(combinations(free, count), key=lambda chosen: apart(distances, chosen))
    return min((_grown(distances, free, first, count) for first in free), key=lambda chosen: apart(distances, chosen))


def _grown(distances: Distances, free: tuple[int, ...], first: int, count: int) -> tuple[int, ...]:
    chosen = [first]
    while len(chosen) < count:
        left = (column for column in free if column not in chosen)
        chosen.append(min(left, key=lambda column: apart(distances, (*chosen, column))))
    return tuple(sorted(chosen))
