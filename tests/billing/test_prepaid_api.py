"""Prepaid time through the API: the same services, the same refusals."""

from typing import Any

import pytest
from django.test import Client

from apps.billing.choices import Term
from apps.billing.models import Package
from apps.billing.prepaid.term_prices import set_term_price
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.builders import make_member, make_organisation, make_package, platform, signed_in

pytestmark = pytest.mark.django_db
BASE = "/api/v1/prepaid/"


@pytest.fixture
def package() -> Package:
    with acting(platform()):
        made = make_package(360)
        set_term_price(platform(), package_id=made.pk, term=Term.MONTH, price_fen=30_000)
        set_term_price(platform(), package_id=made.pk, term=Term.DAY, price_fen=1_500)
        return made


@pytest.fixture
def alice() -> Client:
    return enter()


def enter(role: Role = Role.ADMIN) -> Client:
    with acting(platform()):
        return signed_in(make_member(make_organisation(balance_fen=100_000), "alice", role))


def send(client: Client, path: str, data: dict[str, Any], code: int = 200, **headers: str) -> dict[str, Any]:
    answer = client.post(BASE + path, data, content_type="application/json", headers=headers)
    assert answer.status_code == code, answer.content
    told: dict[str, Any] = answer.json()
    return told


def test_offers_quote_order_renew_change_and_give_back(alice: Client, package: Package) -> None:
    offers = alice.get(f"{BASE}offers/").json()["results"]
    assert {offer["term"]: offer["price_fen"] for offer in offers} == {"day": 1_500, "month": 30_000}
    quote = alice.get(f"{BASE}quote/", {"package": str(package.pk), "term": "month"}).json()
    assert (quote["amount_fen"], quote["shortfall_fen"]) == (30_000, 0)
    assert quote["by_hour_fen"] > quote["saved_fen"] > 0
    what = {"package": package.pk, "term": "month", "price": quote["price"], "key": "contract 7"}
    made = send(alice, "orders/", what, 201)
    assert send(alice, "orders/", what, 201)["id"] == made["id"]
    again = send(alice, f"orders/{made['id']}/renew/", {"after": made["ends_at"]})
    assert (again["paid_fen"], len(again["purchases"])) == (60_000, 2)
    assert send(alice, f"orders/{made['id']}/renew/", {"after": made["ends_at"]})["paid_fen"] == 60_000
    set_to = alice.patch(f"{BASE}orders/{made['id']}/", {"at_end": "stop"}, content_type="application/json").json()
    assert (set_to["at_end"], set_to["auto_renew"]) == ("stop", False)
    changed = send(alice, f"orders/{made['id']}/change/", {"package": package.pk, "quantity": 1}, 400)
    assert changed["fields"] == {"package": ["This is what the order covers already."]}
    ended = send(alice, f"orders/{made['id']}/give-back/", {})
    assert ended["status"] == "refunded"
    assert ended["left_fen"] == 0
    assert ended["paid_fen"] == ended["earned_fen"] + ended["given_back_fen"]
    assert alice.get(f"{BASE}orders/", {"status": "active"}).json()["results"] == []


def test_refusals_have_words_and_change_nothing(alice: Client, package: Package) -> None:
    good = {"package": package.pk, "term": "month", "key": "k"}
    send(alice, "orders/", {**good, "term": "hour"}, 400)
    send(alice, "orders/", {**good, "quantity": 0}, 400)
    send(alice, "orders/", {**good, "quantity": 4}, 402)
    send(alice, "orders/", {**good, "term": "year"}, 409)
    send(alice, "orders/", {**good, "package": 10**9}, 404)
    assert alice.get(f"{BASE}orders/").json()["results"] == []


def test_others_see_nothing_of_it(alice: Client, package: Package) -> None:
    made = send(alice, "orders/", {"package": package.pk, "term": "day"}, 201, **{"Idempotency-Key": "one"})
    charlie, bob = enter(), enter(Role.MEMBER)
    assert charlie.get(f"{BASE}orders/{made['id']}/").status_code == 404
    send(charlie, f"orders/{made['id']}/give-back/", {}, 404)
    assert bob.get(f"{BASE}orders/").status_code == 403
    assert bob.get(f"{BASE}offers/").status_code == 200
