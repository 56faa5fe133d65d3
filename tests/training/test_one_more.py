"""What one member more would cost and bring stands beside the quote of a run of several."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.billing.models import Package
from apps.common.scoping import acting
from apps.workloads.spec import MOST_MEMBERS
from tests.builders import World, platform, signed_in
from tests.training.kit import form_for, text
from tests.workloads.cards import make_gpu_package, world_of_cards


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Three H200 on one machine and nothing else."""
    with acting(platform()):
        yield world_of_cards(3)


def quote_page(lab: World, package: Package, members: int) -> str:
    form = form_for(lab, package=str(package.pk), members=str(members))
    return text(signed_in(lab.alice).post(reverse("training:quote"), form))


def asked(client: Client, package: Package, members: int) -> Any:
    body = json.dumps({"package": package.pk, "members": members})
    return client.post("/api/v1/training/quote/", body, content_type="application/json").json()["one_more"]


def test_it_says_the_price_the_cards_and_the_start(lab: World) -> None:
    one = make_gpu_package(1)
    page = quote_page(lab, one, 2)
    assert "2 × 1 GPU = 2 GPU" in page
    assert "With one more member" in page
    assert "¥10.80/h" in page
    assert "3 GPUs instead of 2 · start: now" in page
    assert "4 GPUs instead of 3 · start: never" in quote_page(lab, one, 3)  # there is no machine for four


def test_the_api_says_so_too(lab: World) -> None:
    one, client = make_gpu_package(1), signed_in(lab.alice)
    more = asked(client, one, 2)
    assert more == {
        "members": 3, "cards": 3, "rate_fen_per_hour": "1080.0000000000", "starts_now": True, "start_p50": None,
    }  # fmt: skip
    assert not asked(client, one, 3)["starts_now"]
    assert asked(client, one, 1) is None
    assert asked(client, one, MOST_MEMBERS) is None


def test_it_costs_no_statement_of_its_own(lab: World) -> None:
    one, client, counts = make_gpu_package(1), signed_in(lab.alice), []
    for members in (1, 2):
        form = form_for(lab, package=str(one.pk), members=str(members))
        client.post(reverse("training:quote"), form)
        with CaptureQueriesContext(connection) as queries:
            client.post(reverse("training:quote"), form)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20
