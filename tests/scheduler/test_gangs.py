"""How many equal members a node has room for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler.gangs import _multiples
from tests.scheduler.worlds import steady

AMOUNT = st.integers(0, 12)


def fit(free: int, each: int, most: int) -> int:
    count = 0
    while count < most and (count + 1) * each <= free:
        count += 1
    return count


@steady
@given(st.lists(st.tuples(AMOUNT, AMOUNT), min_size=1, max_size=6), st.integers(0, 9))
def test_as_many_fit_as_can_be_taken_one_by_one(nodes: list[tuple[int, int]], most: int) -> None:
    free, each = (np.array(column) for column in zip(*nodes, strict=True))
    assert _multiples(free, each, most).tolist() == [fit(*node, most) for node in nodes]
    assert _multiples(free, 1, most).tolist() == [min(have, most) for have, _each in nodes]
