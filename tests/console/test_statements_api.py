"""Statements by the API, the platform's and the organisation's."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.billing.models import Statement
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.builders import World, make_member, make_world, platform, signed_in
from tests.console.test_statements import issued, of_october, state_of

CONSOLE, OWN = "/api/v1/console/statements/", "/api/v1/statements/"


@pytest.fixture
def october(world: World) -> Statement:
    return of_october(world)


def send(client: Client, url: str, **data: Any) -> Any:
    return client.post(url, data, content_type="application/json", headers={"Idempotency-Key": str(uuid4())})


def test_review_issue_and_again(finance: Client, october: Statement) -> None:
    for step in ("review", "review", "issue", "issue"):
        answer = send(finance, f"{CONSOLE}{october.pk}/{step}/")
        assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["number"]) == ("issued", "ST-202610-000001")
    assert send(finance, f"{CONSOLE}{october.pk}/reopen/", reason="too late").status_code == 409


def test_a_draft_is_not_issued(finance: Client, october: Statement) -> None:
    assert send(finance, f"{CONSOLE}{october.pk}/issue/").status_code == 409
    assert state_of(october) == "draft"


def test_back_to_draft_with_a_reason(finance: Client, october: Statement) -> None:
    send(finance, f"{CONSOLE}{october.pk}/review/")
    assert send(finance, f"{CONSOLE}{october.pk}/reopen/").status_code == 400
    assert send(finance, f"{CONSOLE}{october.pk}/reopen/", reason="price").json()["reason"] == "price"


def test_the_list_is_filtered(finance: Client, october: Statement) -> None:
    found = finance.get(CONSOLE, {"period": "2026-10", "state": "draft"}).json()["results"]
    assert [each["id"] for each in found] == [str(october.pk)]
    assert finance.get(CONSOLE, {"state": "issued"}).json()["results"] == []


def test_drafts_are_built(finance: Client, october: Statement) -> None:
    built = send(finance, f"{CONSOLE}build/", period="2026-09")
    assert (built.status_code, built.json()["more"]) == (200, False)
    assert send(finance, f"{CONSOLE}build/", period="September").status_code == 400


def test_the_lines_add_up_to_the_total(world: World, october: Statement) -> None:
    bill = issued(october)
    with acting(platform()):
        client = signed_in(make_member(world.organisation, name="books", role=Role.FINANCE))
    shown = client.get(f"{OWN}{bill.pk}/").json()
    amounts = [each["amount_fen"] for each in shown["lines"] if each["section"] == "bill"]
    assert sum(map(float, amounts)) == shown["total_fen"]
    assert [each["id"] for each in client.get(OWN).json()["results"]] == [str(bill.pk)]


def test_others_get_nothing(alice: Client, ops: Client, october: Statement) -> None:
    bill = issued(october)
    with acting(platform()):
        stranger = signed_in(make_world(role=Role.ADMIN).alice)
    assert stranger.get(f"{OWN}{bill.pk}/").status_code == 404
    assert alice.get(OWN).status_code == 403
    assert ops.get(CONSOLE).status_code == 403
