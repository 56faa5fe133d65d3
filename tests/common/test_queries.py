"""A list tells of parameters that it does not know."""

from collections.abc import Iterator

import pytest

from apps.common.scoping import acting
from tests.builders import World, make_world, platform, signed_in

RUNS = "/api/v1/training/runs/"


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("stauts=running", "stauts"),
        ("ordering=-name", "ordering"),
        ("status=flying", "status"),
        ("page_size=0", "page_size"),
        ("page_size=-1", "page_size"),
        ("page_size=many", "page_size"),
        ("page_size=100000", "page_size"),
        ("page_size=\u0663", "page_size"),
    ],
)
def test_a_slip_is_told_by_name(world: World, query: str, field: str) -> None:
    answer = signed_in(world.alice).get(f"{RUNS}?{query}")
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert field in answer.json()["fields"]


@pytest.mark.parametrize("query", ["", "q=x", "status=running&page_size=200", "page_size=1", "mine=true"])
def test_what_the_description_names_is_taken(world: World, query: str) -> None:
    assert signed_in(world.alice).get(f"{RUNS}?{query}").status_code == 200
