"""The console's API: the same services and permissions as its pages, problem+json for what is refused."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from apps.billing.models import Package
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Resource
from apps.tenants.models import Membership, User
from tests.builders import World, make_organisation, make_user, platform, submit_workload
from tests.console.conftest import staff
from tests.console.kit import STARTED, charges_of, count_entries, last_entry, ran

ROOT = "/api/v1/console"
READABLE = {
    "overview": {"finance", "business", "ops", "super"},
    "organisations": {"finance", "business", "super"},
    "nodes": {"ops", "super"},
    "workloads": {"business", "ops", "super"},
    "packages": {"finance", "super"},
    "recharges": {"finance", "super"},
    "consumption": {"finance", "super"},
    "charges": {"finance", "super"},
    "audit": {"super"},
}


def send(client: Client, method: str, path: str, body: object = None) -> Any:
    return client.generic(method, f"{ROOT}/{path}", _json(body), content_type="application/json")


def _json(body: object) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


@pytest.mark.parametrize("role", list(PlatformRole))
def test_each_role_reads_what_its_pages_show(world: World, role: PlatformRole) -> None:
    client = staff(role)
    for path, roles in READABLE.items():
        expected = 200 if role.value in roles else 403
        assert client.get(f"{ROOT}/{path}/").status_code == expected, path


@pytest.mark.parametrize("path", list(READABLE))
def test_members_and_strangers_read_nothing(alice: Client, client: Client, path: str) -> None:
    refused = alice.get(f"{ROOT}/{path}/")
    assert refused.status_code == 403
    assert refused["Content-Type"] == "application/problem+json"
    assert client.get(f"{ROOT}/{path}/").status_code == 401


def test_the_overview_counts(root: Client, world: World) -> None:
    with acting(world.actor):
        submit_workload(world)
    found = root.get(f"{ROOT}/overview/").json()
    assert found["work"]["queued"] >= 1
    assert found["capacity"]["cpu_milli"] >= 4000


def test_organisations_are_made_read_and_frozen(business: Client) -> None:
    made = send(business, "POST", "organisations/", {"name": "Physics"})
    assert made.status_code == 201
    pk = made.json()["id"]
    assert business.get(f"{ROOT}/organisations/{pk}/").json()["slug"] == "physics"
    assert "balance_fen" not in made.json()  # business staff see no money
    assert send(business, "POST", f"organisations/{pk}/freeze/").json()["status"] == "frozen"
    again = send(business, "POST", f"organisations/{pk}/freeze/")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert last_entry("organisation.frozen").channel == "api"


def test_a_name_that_is_taken_is_a_problem_with_its_field(business: Client, world: World) -> None:
    refused = send(business, "POST", "organisations/", {"name": world.organisation.name})
    assert refused.status_code == 400
    assert "name" in refused.json()["fields"]


def test_pages_follow_a_cursor_without_gap_or_repeat(finance: Client, world: World) -> None:
    with acting(platform()):
        for number in range(4):
            make_organisation(f"Paged {number}", balance_fen=0)
    seen: list[str] = []
    url: str | None = f"{ROOT}/organisations/?q=Paged&page_size=3"
    while url:
        page = finance.get(url).json()
        seen += [row["name"] for row in page["results"]]
        url = page["next"]
    assert seen == ["Paged 0", "Paged 1", "Paged 2", "Paged 3"]


def test_the_generated_password_is_in_one_answer_only(business: Client, world: World) -> None:
    path = f"organisations/{world.organisation.pk}/members/"
    added = send(business, "POST", path, {"username": "bob", "role": "finance", "priority": 4})
    assert added.status_code == 201
    assert added["Cache-Control"] == "no-store"
    assert User.objects.get(username="bob").check_password(added.json()["password"])
    listed = business.get(f"{ROOT}/{path}").json()["results"]
    assert {"bob", world.alice.username} == {row["user"]["username"] for row in listed}
    assert "password" not in str(listed)


def test_somebody_with_an_account_is_added_without_a_password(business: Client, world: World) -> None:
    with acting(platform()):
        bob = make_user("bob")
    path = f"organisations/{world.organisation.pk}/members/"
    added = send(business, "POST", path, {"username": bob.username, "existing": True})
    assert added.json()["password"] is None
    with acting(platform()):
        assert Membership.objects.filter(user=bob, organisation=world.organisation).exists()
    assert send(business, "POST", path, {"username": bob.username, "existing": True}).status_code == 409


def test_quotas_are_set_by_name_and_the_others_stay(business: Client, world: World) -> None:
    path = f"organisations/{world.organisation.pk}/quotas/"
    set_ = send(business, "PUT", path, [{"resource": "runs", "limit": 2}])
    limits = {row["resource"]: row["limit"] for row in set_.json() if not row["model"]}
    assert limits == {resource.value: 2 if resource is Resource.RUNS else None for resource in Resource.every()}
    assert send(business, "PUT", path, [{"resource": "runs", "limit": -1}]).status_code == 400
    assert send(business, "PUT", path, [{"resource": "moons", "limit": 1}]).status_code == 400
    assert count_entries("quota.limited") == 1


def test_nodes_are_read_and_cordoned(ops: Client, world: World) -> None:
    (node,) = [row for row in ops.get(f"{ROOT}/nodes/").json()["results"] if row["id"] == str(world.node.pk)]
    assert (node["cpu_milli"], node["cpu_held_milli"], node["status"]) == (4000, 0, "ready")
    assert send(ops, "POST", f"nodes/{world.node.pk}/cordon/").json()["status"] == "cordoned"
    assert send(ops, "POST", f"nodes/{world.node.pk}/uncordon/").json()["status"] == "ready"
    assert ops.get(f"{ROOT}/nodes/{world.node.pk}/samples/?hours=0").status_code == 400
    assert ops.get(f"{ROOT}/nodes/{world.node.pk}/samples/?hours=24").json() == []


def test_a_workload_is_read_with_its_events_and_stopped(business: Client, ops: Client, world: World) -> None:
    with acting(world.actor):
        workload = submit_workload(world)
    path = f"workloads/{workload.pk}/"
    found = business.get(f"{ROOT}/{path}").json()
    assert found["organisation"]["name"] == world.organisation.name
    assert Decimal(found["rate_fen_per_hour"]) == 360
    assert [event["reason"] for event in business.get(f"{ROOT}/{path}events/").json()["results"]] == ["submitted"]
    assert send(ops, "POST", f"{path}stop/").status_code == 403
    assert send(business, "POST", f"{path}stop/").json()["status"] == "stopped"
    assert send(business, "POST", f"{path}stop/").status_code == 409


def test_packages_are_made_changed_priced_and_withdrawn(finance: Client) -> None:
    body = {"name_en": "Tiny", "name_zh": "迷你", "cpu_milli": 500, "memory_mib": 512, "rate_fen_per_hour": "12.5"}
    made = send(finance, "POST", "packages/", body)
    assert made.status_code == 201
    assert Decimal(made.json()["price"]["rate_fen_per_hour"]) == Decimal("12.5")
    path = f"packages/{made.json()['id']}/"
    refused = send(finance, "PUT", path, {**body, "memory_mib": 1024})
    assert list(refused.json()["fields"]) == ["rate_fen_per_hour"]  # a new price has an address of its own
    del body["rate_fen_per_hour"]
    changed = send(finance, "PUT", path, {**body, "memory_mib": 1024})
    assert changed.json()["memory_mib"] == 1024
    assert send(finance, "POST", f"{path}prices/", {"rate_fen_per_hour": "13"}).json()["number"] == 2
    again = send(finance, "POST", f"{path}prices/", {"rate_fen_per_hour": "13"})
    assert (again.status_code, again.json()["number"]) == (200, 2)
    assert [price["number"] for price in finance.get(f"{ROOT}/{path}prices/").json()["results"]] == [2, 1]
    assert send(finance, "POST", f"{path}withdraw/").json()["active"] is False
    assert send(finance, "POST", f"{path}offer/").json()["active"] is True


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cpu_milli": 0}, "cpu_milli"),
        ({"gpu_count": 1}, "gpu_mode"),
        ({"rate_fen_per_hour": "-1"}, "rate_fen_per_hour"),
        ({"rate_fen_per_hour": "100000001"}, "rate_fen_per_hour"),
        ({"name_zh": " "}, "name_zh"),
    ],
)
def test_a_wrong_package_names_the_field_that_was_sent(finance: Client, change: dict[str, Any], field: str) -> None:
    body = {"name_en": "Tiny", "name_zh": "迷你", "cpu_milli": 500, "memory_mib": 512, **change}
    refused = send(finance, "POST", "packages/", body)
    assert refused.status_code == 400
    assert field in refused.json()["fields"]
    assert not Package.objects.filter(name_en="Tiny").exists()


def test_a_recharge_is_made_once_for_each_reference(finance: Client, world: World) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": 5000, "reference": "WIRE-1"}
    first = send(finance, "POST", "recharges/", body)
    again = send(finance, "POST", "recharges/", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = send(finance, "POST", "recharges/", {**body, "amount_fen": 5001})
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    detail = finance.get(f"{ROOT}/recharges/{first.json()['id']}/").json()
    assert (detail["amount_fen"], detail["reference"]) == (5000, "WIRE-1")


@pytest.mark.parametrize("amount", [0, -1, 1.5, "1,000", None])
def test_a_recharge_needs_whole_fen(finance: Client, world: World, amount: object) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": amount, "reference": "WIRE-1"}
    refused = send(finance, "POST", "recharges/", body)
    assert refused.status_code == 400
    assert "amount_fen" in refused.json()["fields"]


def test_too_much_at_a_time_names_the_field_that_was_sent(finance: Client, world: World) -> None:
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": 100_000_001, "reference": "WIRE-1"}
    assert "amount_fen" in send(finance, "POST", "recharges/", body).json()["fields"]


def test_charges_and_totals_agree(finance: Client, world: World) -> None:
    workload = ran(world, minutes=97)
    day = STARTED.date().isoformat()
    rows = finance.get(f"{ROOT}/charges/?workload={workload}").json()["results"]
    assert {row["key"] for row in rows} == {charge.key for charge in charges_of(workload)}
    totals = finance.get(f"{ROOT}/consumption/?since={day}&until={day}").json()
    (mine,) = [row for row in totals if row["organisation_id"] == str(world.organisation.pk)]
    assert mine["amount_fen"] == sum(row["amount_fen"] for row in rows)
    (run,) = finance.get(f"{ROOT}/organisations/{world.organisation.pk}/consumption/").json()
    assert (run["workload_id"], run["name"]) == (str(workload), "digits")


def test_the_audit_log_filters_by_action(root: Client, world: World) -> None:
    send(root, "POST", f"organisations/{world.organisation.pk}/freeze/")
    (entry,) = root.get(f"{ROOT}/audit/?action=organisation.frozen").json()["results"]
    assert (entry["before"], entry["after"]) == ({"status": "active"}, {"status": "frozen"})
    assert root.get(f"{ROOT}/audit/?action=no.such").status_code == 400


def test_unknown_rows_do_not_exist(root: Client) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    for path in (
        f"organisations/{nobody}/",
        f"organisations/{nobody}/members/",
        f"nodes/{nobody}/",
        f"workloads/{nobody}/",
    ):
        assert root.get(f"{ROOT}/{path}").status_code == 404, path
    assert root.get(f"{ROOT}/packages/999999/").status_code == 404
    assert root.get(f"{ROOT}/packages/999999/prices/").status_code == 404
