"""Plugin for mutation tests: of a mutant's tests, those first that have noticed another mutant of its function.

mutmut gives a mutant its tests with the quickest first, which says nothing about what they look at. Most mutants are
noticed by a test that has noticed a neighbour, so each process writes down which test failed, and the next ones begin
with it. A mutant that survives has met all of its tests in either order. See plstack/launch/mutants.py.
"""

import os
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

KILLS = Path("kills.txt")  # in the folder that mutmut runs pytest in, and keeps
MUTANT, NUMBERED = "MUTANT_UNDER_TEST", "__mutmut_"
FROM_THE_MODULE = 5  # tests that a mutant meets next because they have noticed one of another function of its module


class Kill(NamedTuple):
    function: str
    test: str

    @property
    def module(self) -> str:
        return self.function.rpartition(".")[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Before the others sort them: what needs a database without a transaction around it still comes last."""
    function = _function()
    if function:
        place = {test: number for number, test in enumerate(likely(function, _kills()))}
        items.sort(key=lambda item: place.get(item.nodeid, len(place)))
    yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    function = _function()
    if function and report.failed:
        with KILLS.open("a") as file:
            file.write(f"{function} {report.nodeid}\n")


def likely(function: str, kills: Sequence[Kill]) -> list[str]:
    """The tests that may notice a change of `function`, the likeliest first."""
    module = Kill(function, "").module
    own = Counter(kill.test for kill in kills if kill.function == function)
    near = Counter(kill.test for kill in kills if kill.module == module)
    found = [test for test, _times in [*own.most_common(), *near.most_common(FROM_THE_MODULE)]]
    return list(dict.fromkeys(found))


def _function() -> str:
    """What has been changed in this process, as mutmut names it; empty outside a mutant."""
    function, numbered, _number = os.environ.get(MUTANT, "").rpartition(NUMBERED)
    return function if numbered else ""


def _kills() -> list[Kill]:
    if not KILLS.exists():
        return []
    return [Kill(*line.split(" ", 1)) for line in KILLS.read_text().splitlines()]
