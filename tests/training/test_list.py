"""The list: whose runs, narrowed by its address."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import World
from tests.training.kit import submit, text


def test_an_empty_list_says_what_it_is_for_and_offers_the_example(alice: Client) -> None:
    page = text(alice.get("/training/"))
    assert "No training yet" in page
    assert "/training/new/?example=1" in page


def test_a_member_sees_their_own_runs_only(world: World, alice: Client, bob: Client, dora: Client) -> None:
    submit(world, name="of alice")
    assert "of alice" in text(alice.get("/training/"))
    assert "of alice" not in text(bob.get("/training/"))
    assert "of alice" in text(dora.get("/training/"))


def test_the_list_is_filtered_searched_and_sorted_by_its_address(world: World, alice: Client) -> None:
    submit(world, name="first one", note="warm-up")
    submit(world, name="second one")
    assert "second one" not in text(alice.get("/training/?q=warm"))
    assert "first one" in text(alice.get("/training/?status=live"))
    none = text(alice.get("/training/?status=failed"))
    assert "first one" not in none
    assert "Nothing matches" in none
    page = text(alice.get("/training/?sort=name"))
    assert page.index("first one") < page.index("second one")


@pytest.mark.parametrize("query", ["status=nonsense", "page=99999", "page=x", "sort=nonsense", "mine=maybe"])
def test_a_made_up_address_is_no_error(world: World, alice: Client, query: str) -> None:
    submit(world)
    assert alice.get(f"/training/?{query}").status_code == 200


def test_an_address_with_what_no_row_can_hold_is_refused(world: World, alice: Client) -> None:
    assert alice.get("/training/?q=%00").status_code == 400


def test_the_list_asks_the_same_few_questions_however_long_it_is(world: World, dora: Client) -> None:
    def questions() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            dora.get("/training/")
        return len(queries)

    submit(world)
    questions()
    few = questions()
    for _ in range(10):
        submit(world)
    assert questions() == few
