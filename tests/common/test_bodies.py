"""What a body may hold: fields that somebody reads, and plain values."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.billing.models import Transfer
from apps.common.scoping import acting
from apps.storage.models import Volume
from apps.tenants.choices import Role
from tests.builders import World, make_staff, make_world, platform, signed_in
from tests.training.kit import body_for

RUNS = "/api/v1/training/runs/"
RECHARGES = "/api/v1/console/recharges/"
TOKENS = "/api/v1/me/tokens/"


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world(role=Role.ADMIN)


@pytest.fixture
def staff(world: World) -> Client:
    return signed_in(make_staff())


def send(client: Client, url: str, body: Any, method: str = "post") -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    answer = getattr(client, method)(url, text, content_type="application/json")
    if answer.status_code >= 400:
        assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    return answer


def test_a_field_that_nobody_reads_is_refused_with_the_nearest_name(world: World) -> None:
    answer = send(signed_in(world.alice), RUNS, {**body_for(world), "scrpt": "x.py"})
    assert answer.status_code == 400
    assert answer.json()["fields"] == {"scrpt": ["There is no field “scrpt” here. Did you mean “script”?"]}


def test_a_field_that_is_only_read_is_no_field_to_write(world: World) -> None:
    answer = send(signed_in(world.alice), TOKENS, {"name": "x", "prefix": "y", "permissions": []})
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["prefix"])


def test_nested_objects_are_as_strict(world: World) -> None:
    mounts = [{"kind": "volume", "id": str(world.image.pk), "readonly": True}]
    answer = send(signed_in(world.alice), RUNS, {**body_for(world), "mounts": mounts})
    assert answer.status_code == 400
    assert "read_only" in answer.json()["fields"]["mounts"][0]["readonly"][0]


def test_lists_of_objects_are_as_strict(world: World) -> None:
    steps = [{"name": "a", "run": str(world.image.pk), "needs": [{"step": "b", "outcome": "failed"}]}]
    answer = send(signed_in(world.alice), "/api/v1/pipelines/", {"name": "x", "steps": steps})
    assert answer.status_code == 400
    assert "outcome" in answer.json()["fields"]["steps"][0]["needs"][0]


def test_lists_are_as_strict(world: World, staff: Client) -> None:
    url = f"/api/v1/console/organisations/{world.organisation.pk}/guarantees/"
    body = [{"gpu_model": "", "simulated": False, "gpu_milli": 0, "gpus": 1}]
    answer = send(staff, url, body, "put")
    assert answer.status_code == 400
    assert "gpus" in json.dumps(answer.json()["fields"])


def test_an_act_without_fields_takes_none(world: World) -> None:
    made = send(signed_in(world.alice), RUNS, body_for(world)).json()
    answer = send(signed_in(world.alice), f"{RUNS}{made['id']}/stop/", {"now": True})
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["now"])


def test_forms_are_as_strict(world: World) -> None:
    answer = signed_in(world.alice).post("/api/v1/training/code/", {"fodler": "x"})
    assert answer.status_code == 400
    assert "folder" in answer.json()["fields"]["fodler"][0]


@pytest.mark.parametrize("amount", ["1_000", " 5 ", "\uff11\uff10\uff10", "100", 1.0, True, "1e3", "", [], {}, "NaN"])
def test_money_is_an_integer(world: World, staff: Client, amount: Any) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": amount, "reference": "r-1"}
    before = Transfer.objects.count()
    answer = send(staff, RECHARGES, body)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["amount_fen"])
    assert Transfer.objects.count() == before


def test_money_with_an_exponent_is_none(world: World, staff: Client) -> None:
    body = f'{{"organisation_id": "{world.organisation.pk}", "amount_fen": 1e3, "reference": "r-1"}}'
    assert send(staff, RECHARGES, body).status_code == 400


def test_an_integer_is_money(world: World, staff: Client) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": 1000, "reference": "r-1"}
    assert send(staff, RECHARGES, body).status_code == 201


@pytest.mark.parametrize("rate", ["1_0", "\uff11", " 1 ", "+1", True])
def test_rates_are_plain_decimals(world: World, staff: Client, rate: Any) -> None:
    answer = send(staff, f"/api/v1/console/packages/{world.package.pk}/prices/", {"rate_fen_per_hour": rate})
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["rate_fen_per_hour"])


@pytest.mark.parametrize("number", [10**18, 10**30, -(10**19)])
def test_a_number_that_no_column_holds(world: World, staff: Client, number: int) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": number, "reference": "r-1"}
    assert send(staff, RECHARGES, body).status_code == 400


@pytest.mark.parametrize("text", ["a\0b", "a\x1bb", "a\x7fb", "a\x9bb", "\ud800"])
def test_control_characters_are_refused_where_they_stand(world: World, text: str) -> None:
    answer = send(signed_in(world.alice), RUNS, {**body_for(world), "note": text})
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["note"])


def test_a_program_may_hold_control_characters(world: World) -> None:
    body = {**body_for(world), "text": "print('\x1b[1m\x0c')\n"}
    assert send(signed_in(world.alice), RUNS, body).status_code == 201
    answer = send(signed_in(world.alice), RUNS, {**body, "text": "\0"})
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["text"])


@pytest.mark.parametrize("letter", ["\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad"])
def test_names_have_nothing_that_cannot_be_seen(world: World, staff: Client, letter: str) -> None:
    alice = signed_in(world.alice)
    for client, url, body in (
        (alice, "/api/v1/volumes/", {"name": f"a{letter}b", "size_mib": 1}),
        (alice, "/api/v1/organisation/departments/", {"name": f"a{letter}b"}),
        (alice, "/api/v1/organisation/roles/", {"name": f"a{letter}b", "permissions": ["organisation.view"]}),
        (staff, "/api/v1/console/organisations/", {"name": f"a{letter}b"}),
        (staff, "/api/v1/console/zones/", {"name": f"a{letter}b"}),
    ):
        answer = send(client, url, body)
        assert (answer.status_code, list(answer.json()["fields"])) == (400, ["name"]), f"{url} {answer.content!r}"
    assert not Volume.objects.filter(name__contains=letter).exists()


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "a", "name": "b"}',
        '{"x": NaN}',
        '{"x": Infinity}',
        '{"x": 1e999}',
        '{"x": ' + "9" * 5000 + "}",
        '{"x":' + "[" * 100_000,
        "[" * 500 + "]" * 500,
        b"\xff\xfe{}",
        b'{"name": "\xff"}',
        "{",
        "nope",
        "[]",
        "1",
        '"text"',
    ],
)
def test_what_is_no_plain_json_is_refused(world: World, body: Any) -> None:
    assert send(signed_in(world.alice), TOKENS, body).status_code == 400


@pytest.mark.parametrize("charset", ["hex", "utf-16", "rot13", "nope", "utf-7"])
def test_only_utf_8(world: World, charset: str) -> None:
    for kind in ("application/json", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"):
        answer = signed_in(world.alice).generic("POST", TOKENS, b"{}", content_type=f"{kind}; charset={charset}")
        assert answer.status_code in (400, 415), f"{kind} {charset}: {answer.status_code}"
        assert answer.headers["Content-Type"] == "application/problem+json"
