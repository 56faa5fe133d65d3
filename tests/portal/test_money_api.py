"""The API of money: the same numbers as the pages, the same rights."""

from decimal import Decimal

import pytest
from django.test import Client

from apps.billing import services as billing
from apps.billing.choices import AccountKind
from apps.billing.ledger.services import organisation_account
from apps.billing.prices.discounts.services import set_discount
from apps.common.scoping import acting
from apps.tenants.models import User
from tests.builders import World, make_charged, make_package, make_user, platform, signed_in

pytestmark = pytest.mark.django_db

V1 = "/api/v1/"
ROUTES = (
    "wallet/",
    "recharges/",
    "packages/",
    "consumption/charges/",
    "consumption/days/",
    "consumption/workloads/",
)
DAYS = {"range": "7d"}


@pytest.mark.parametrize("route", ROUTES)
def test_strangers_and_people_without_an_organisation_get_nothing(client: Client, route: str) -> None:
    assert client.get(V1 + route).status_code in (401, 403)
    with acting(platform()):
        charlie = make_user("charlie")
    response = signed_in(charlie).get(V1 + route)
    assert response.status_code == 403
    assert response.json()["code"] == "denied"


def test_the_wallet_in_fen(world: World, bob: User) -> None:
    body = signed_in(bob).get(f"{V1}wallet/").json()
    assert (body["balance_fen"], body["held_fen"], body["available_fen"]) == (100_000, 0, 100_000)
    assert (body["status"], body["runs_until"]) == ("normal", None)


def test_top_ups_are_for_who_looks_after_the_money(world: World, bob: User) -> None:
    assert signed_in(bob).get(f"{V1}recharges/").status_code == 403
    found = signed_in(world.alice).get(f"{V1}recharges/").json()["results"]
    assert [row["amount_fen"] for row in found] == [100_000]
    assert found[0]["reference"].startswith("slip-")


def test_packages_carry_the_price_in_force(world: World) -> None:
    with acting(platform()) as staff:
        dearer = make_package(rate_fen=100)
        billing.set_price(staff, package_id=dearer.pk, rate_fen_per_hour=Decimal("123.4567"))
        gone = make_package()
        billing.deactivate_package(staff, package_id=gone.pk)
    found = {row["id"]: row for row in signed_in(world.alice).get(f"{V1}packages/").json()["results"]}
    assert Decimal(found[dearer.pk]["rate_fen_per_hour"]) == Decimal("123.4567")
    assert found[dearer.pk]["price_version"] == 2
    with acting(platform()) as staff:
        set_discount(staff, organisation_id=world.organisation.pk, off=Decimal("0.25"))
    rows = signed_in(world.alice).get(f"{V1}packages/").json()["results"]
    (row,) = (row for row in rows if row["id"] == dearer.pk)
    assert (row["rate_fen_per_hour"], row["list_rate_fen_per_hour"]) == ("92.5925250000", "123.4567000000")
    assert gone.pk not in found


def test_charges_days_and_runs_add_up_to_the_ledger(world: World, bob: User) -> None:
    with acting(platform()):
        for number in range(5):
            make_charged(world.organisation, (world.alice, bob)[number % 2], world.package, 123.4 + number)
        revenue = organisation_account(world.organisation.pk, AccountKind.REVENUE).balance_fen
    client = signed_in(world.alice)
    charges = client.get(f"{V1}consumption/charges/", DAYS).json()["results"]
    days = client.get(f"{V1}consumption/days/", DAYS).json()
    runs = client.get(f"{V1}consumption/workloads/", DAYS).json()["results"]
    for rows in (charges, days, runs):
        assert sum(row["amount_fen"] for row in rows) == revenue
    for charge in charges:
        exact = Decimal(charge["seconds"]) * Decimal(charge["rate_fen_per_hour"]) * charge["replicas"] / 3600
        assert Decimal(charge["exact_fen"]) == pytest.approx(exact, abs=Decimal("1e-9"))


def test_a_member_gets_their_own_runs_only(world: World, bob: User) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, label="alices-run")
        make_charged(world.organisation, bob, world.package, label="bobs-run")
    client = signed_in(bob)
    for route in ("consumption/charges/", "consumption/workloads/"):
        found = client.get(V1 + route, DAYS).json()["results"]
        assert {row["label"] for row in found} == {"bobs-run"}


@pytest.mark.parametrize("route", ["consumption/charges/", "consumption/workloads/"])
def test_long_lists_are_walked_by_cursor_without_loss_or_repeat(world: World, route: str) -> None:
    with acting(platform()):
        for number in range(7):
            make_charged(world.organisation, world.alice, world.package, 60, label=f"run-{number}")
    client, url, seen = signed_in(world.alice), f"{V1}{route}?range=7d&page_size=3", []
    while url:
        body = client.get(url).json()
        seen += [row["label"] for row in body["results"]]
        url = body["next"]
    assert sorted(seen) == [f"run-{number}" for number in range(7)]


@pytest.mark.parametrize("route", ["consumption/charges/", "consumption/days/", "consumption/workloads/"])
def test_days_that_make_no_sense_are_a_problem_that_names_the_field(world: World, route: str) -> None:
    response = signed_in(world.alice).get(V1 + route, {"since": "2026-11-20", "until": "2026-11-01"})
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert "until" in response.json()["fields"]
