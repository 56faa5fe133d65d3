"""Vouchers, discounts and the price of storage by API: as on the pages, problem+json for what is refused."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client

from apps.billing.days import billing_day
from apps.common.clock import db_now
from tests.builders import World
from tests.console.kit import last_entry

ROOT = "/api/v1/console"


def send(client: Client, path: str, body: object, key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"{ROOT}/{path}", json.dumps(body), content_type="application/json", headers=headers)


def terms(world: World, **changes: object) -> dict[str, object]:
    first = billing_day(db_now()) + timedelta(days=1)
    return {
        "organisation_id": str(world.organisation.pk),
        "amount_fen": 20_000,
        "scope": "everything",
        "valid_from": first.isoformat(),
        "valid_until": (first + timedelta(days=30)).isoformat(),
        **changes,
    }


def test_a_voucher_is_granted_once_for_one_key_and_taken_back(finance: Client, world: World) -> None:
    made = send(finance, "vouchers/", terms(world), key="k-1")
    assert made.status_code == 201
    assert (made.json()["left_fen"], made.json()["organisation"]["name"]) == (20_000, world.organisation.name)
    again = send(finance, "vouchers/", terms(world), key="k-1")
    assert again.json()["id"] == made.json()["id"]
    listed = finance.get(f"{ROOT}/vouchers/", {"organisation": world.organisation.name}).json()["results"]
    assert len(listed) == 1
    number = made.json()["id"]
    assert send(finance, f"vouchers/{number}/void/", {}).status_code == 400
    voided = send(finance, f"vouchers/{number}/void/", {"reason": "mistake"})
    assert (voided.json()["state"], voided.json()["left_fen"]) == ("voided", 0)
    assert last_entry("billing.voucher.void").after["reason"] == "mistake"
    assert finance.get(f"{ROOT}/vouchers/{number}/").json()["state"] == "voided"


def test_wrong_terms_name_the_field_as_it_was_sent(finance: Client, world: World) -> None:
    refused = send(finance, "vouchers/", terms(world, scope="package"))
    assert refused.status_code in (400, 422)
    assert "package_id" in json.dumps(refused.json())
    assert finance.get(f"{ROOT}/vouchers/").json()["results"] == []


def test_discounts_follow_each_other(finance: Client, world: World) -> None:
    body = {"organisation_id": str(world.organisation.pk), "off": "0.15", "note": "Contract"}
    first = send(finance, "discounts/", body)
    assert (first.status_code, first.json()["number"]) == (201, 1)
    second = send(finance, "discounts/", {**body, "off": "0.2"})
    assert second.json()["number"] == 2
    rows = finance.get(f"{ROOT}/discounts/", {"state": "now"}).json()["results"]
    assert [row["off"] for row in rows] == ["0.2000"]
    ended = send(finance, f"discounts/{second.json()['id']}/end/", {})
    assert ended.json()["effective_to"] is not None
    assert send(finance, "discounts/", {**body, "off": "1.5"}).status_code in (400, 422)
    assert send(finance, "discounts/999999/end/", {}).status_code == 404


def test_storage_has_versions_of_its_price(finance: Client, world: World) -> None:
    assert finance.get(f"{ROOT}/storage-price/").json() == []
    made = send(finance, "storage-price/", {"rate_fen_per_hour": "0.05"})
    assert (made.status_code, made.json()["number"]) == (201, 1)
    again = send(finance, "storage-price/", {"rate_fen_per_hour": "0.05"})
    assert (again.status_code, again.json()) == (200, made.json())
    assert len(finance.get(f"{ROOT}/storage-price/").json()) == 1


def test_nobody_else_reads_or_writes_them(alice: Client, ops: Client, world: World) -> None:
    for client in (alice, ops):
        for path in ("vouchers", "discounts", "storage-price"):
            assert client.get(f"{ROOT}/{path}/").status_code in (403, 404)
        assert send(client, "vouchers/", terms(world)).status_code in (403, 404)
