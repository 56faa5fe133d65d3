"""The price list's pages and API."""

from decimal import Decimal

import pytest
from django.test import Client

from apps.billing.models import Package, PriceVersion, UnitPrice
from tests.builders import World, make_package
from tests.console.kit import page, text_of

LIST = "/api/v1/console/prices/"


def set_price(client: Client, rate: str, **fields: str) -> int:
    data = {"begins": "now", "rate": rate, "confirmed": "yes", **fields}
    return client.post(page("unit_new"), data).status_code


@pytest.fixture
def listed(finance: Client, world: World) -> Package:
    """A package that follows a list of CPU and memory."""
    package = make_package("48", cpu_milli=4000, memory_mib=8192)
    assert set_price(finance, "0.10", item="cpu") == 302
    assert set_price(finance, "0.01", item="memory") == 302
    assert finance.post(page("package_follow", package.pk), {"follows": "yes"}).status_code == 302
    return package


def test_an_empty_list_says_what_it_is_for(finance: Client, world: World) -> None:
    assert "No unit has a price yet" in text_of(finance.get(page("units")))


def test_a_package_follows_the_list_and_shows_what_it_is_made_of(finance: Client, listed: Package) -> None:
    text = text_of(finance.get(page("package", listed.pk)))
    assert "¥0.48/h" in text
    assert "4 × ¥0.10/h" in text
    assert "Keep a price of its own" in text
    assert 'name="rate"' not in text
    assert "2 packages" not in text_of(finance.get(page("units")))


def test_the_next_price_reprices_what_follows(finance: Client, listed: Package) -> None:
    cpu = UnitPrice.objects.get(item="cpu")
    assert finance.post(page("unit", cpu.pk), {"rate": "0.20", "begins": "now", "confirmed": "yes"}).status_code == 302
    newest = PriceVersion.objects.get(package=listed, effective_to__isnull=True)
    assert newest.rate_fen_per_hour == Decimal(88)
    assert "v2" in text_of(finance.get(page("unit", cpu.pk)))


def test_the_price_in_force_again_says_that_nothing_was_changed(finance: Client, listed: Package) -> None:
    cpu = UnitPrice.objects.get(item="cpu")
    words = "This is the price already. Nothing was changed."
    for path, fields in ((page("unit", cpu.pk), {}), (page("unit_new"), {"item": "cpu"})):
        answer = finance.post(path, {"rate": "0.10", "begins": "now", **fields}, follow=True)
        assert words in text_of(answer)
        assert answer.redirect_chain == [(page("unit", cpu.pk), 302)]
    assert UnitPrice.objects.filter(item="cpu").count() == 1
    asked = {"item": "cpu", "rate_fen_per_hour": "10"}
    again = finance.post(LIST, asked, content_type="application/json")
    assert (again.status_code, again.json()["id"]) == (200, cpu.pk)


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(finance: Client, world: World) -> None:
    wrong = {"item": "gpu", "gpu_mode": "mig", "gpu_model": "A100", "rate": "1,5", "begins": "now"}
    answer = finance.post(page("unit_new"), wrong)
    assert answer.status_code == 422
    assert "at most four decimals" in text_of(answer)
    assert 'value="A100"' in text_of(answer)
    answer = finance.post(page("unit_new"), {**wrong, "rate": "1.5"})
    assert "Name the MIG profile" in text_of(answer)
    assert not UnitPrice.objects.exists()


def test_what_a_package_needs_stays_on_the_list(finance: Client, listed: Package) -> None:
    cpu = UnitPrice.objects.get(item="cpu")
    answer = finance.post(page("unit_end", cpu.pk))
    assert answer.status_code == 422
    assert "has no price for all that the package" in text_of(answer)
    finance.post(page("package_follow", listed.pk), {"follows": "no"})
    assert finance.post(page("unit_end", cpu.pk)).status_code == 302
    assert UnitPrice.objects.filter(item="cpu", effective_to__isnull=True).count() == 0


def test_a_new_package_can_follow_at_once(finance: Client, listed: Package) -> None:
    fields = {
        "name_en": "Big",
        "name_zh": "大",
        "cpu_milli": "8",
        "memory_mib": "16",
        "gpu_count": "",
        "gpu_memory_mib": "",
    }
    fields |= {"gpu_core_milli": "", "sort": "5", "follows_list": "on"}
    assert finance.post(page("package_new"), fields).status_code == 302
    big = Package.objects.get(name_en="Big")
    assert big.prices.get().rate_fen_per_hour == Decimal(96)


@pytest.mark.parametrize("name", ["units", "unit_new"])
def test_only_who_keeps_prices_opens_it(ops: Client, world: World, name: str) -> None:
    assert ops.get(page(name)).status_code == 403


def test_the_api_lists_sets_and_ends(finance: Client, listed: Package) -> None:
    found = finance.get(LIST).json()
    assert [(row["item"], row["rate_fen_per_hour"], row["number"]) for row in found] == [
        ("cpu", "10.0000000000", 1),
        ("memory", "1.0000000000", 1),
    ]
    asked = {"item": "gpu", "gpu_mode": "vgpu", "gpu_model": "A10", "rate_fen_per_hour": "250"}
    made = finance.post(LIST, asked, content_type="application/json", headers={"Idempotency-Key": "u1"})
    assert made.status_code == 201
    again = finance.post(LIST, asked, content_type="application/json", headers={"Idempotency-Key": "u1"})
    assert again.json()["id"] == made.json()["id"]
    ended = finance.post(f"{LIST}{made.json()['id']}/end/", content_type="application/json")
    assert ended.json()["effective_to"] is not None
    needed = finance.post(f"{LIST}{found[0]['id']}/end/", content_type="application/json")
    assert needed.status_code == 409
    wrong = finance.post(LIST, {**asked, "gpu_mode": ""}, content_type="application/json")
    assert wrong.status_code == 400
    own = finance.post(
        f"/api/v1/console/packages/{listed.pk}/follow/", {"follows": False}, content_type="application/json"
    )
    assert own.json()["follows_list"] is False
