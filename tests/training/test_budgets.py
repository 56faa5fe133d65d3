"""How often the pages of a new run may ask the database: a number that grows is seen in review, not by users."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import World
from tests.training.kit import form_for

NEW, QUOTE = "/training/new/", "/training/quote/"
Asks = Callable[[Client, World], Any]


@pytest.mark.parametrize(
    ("asks", "most", "status"),
    [
        pytest.param(lambda client, world: client.get(NEW), 30, 200, id="form"),
        pytest.param(lambda client, world: client.post(QUOTE, form_for(world)), 18, 200, id="quote"),
        pytest.param(lambda client, world: client.post(NEW, form_for(world)), 35, 302, id="submit"),
    ],
)
def test_a_new_run_asks_few_questions(world: World, alice: Client, asks: Asks, most: int, status: int) -> None:
    alice.get(NEW)  # what is asked once in the life of a process
    with CaptureQueriesContext(connection) as queries:
        response = asks(alice, world)
    assert response.status_code == status
    texts = [query["sql"] for query in queries.captured_queries]
    assert len(texts) <= most, "\n".join(texts)
