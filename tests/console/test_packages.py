"""Packages and prices."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.billing import selectors as funds
from apps.billing.models import Package, PriceVersion
from tests.builders import World
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of


def cpu(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name_en": "Medium",
        "name_zh": "中",
        "cpu_milli": "2.5",
        "memory_mib": "8",
        "sort": "15",
        "rate": "4.25",
    }
    return {**data, **changes}


def test_a_new_package_is_on_offer_at_its_price_in_peoples_units(finance: Client) -> None:
    response = post(finance, page("package_new"), follow=True, **cpu())
    assert messages_of(response) == ["Medium is on offer."]
    package = Package.objects.get(name_en="Medium")
    assert (package.cpu_milli, package.memory_mib) == (2500, 8192)
    price = funds.current_price(package.pk)
    assert price is not None
    assert price.rate_fen_per_hour == Decimal(425)
    assert last_entry("billing.package.create").target_id == str(package.pk)


def test_a_card_package_keeps_what_belongs_to_its_mode(finance: Client) -> None:
    data = cpu(gpu_mode="mig", gpu_count="1", gpu_model="H200", gpu_memory_mib="18", mig_profile="1g.18gb")
    post(finance, page("package_new"), **data)
    package = Package.objects.get(name_en="Medium")
    assert (package.isolation, package.mig_profile, package.gpu_memory_mib) == ("hardware", "1g.18gb", 18 * 1024)


def test_rdma_is_kept_and_shown_and_changed(finance: Client) -> None:
    post(finance, page("package_new"), **cpu(rdma="on"))
    package = Package.objects.get(name_en="Medium")
    assert package.rdma
    assert "InfiniBand adapters of the node" in text_of(finance.get(page("package", package.pk)))
    assert finance.get(page("package_edit", package.pk)).context["form"]["rdma"].value() is True
    post(finance, page("package_edit", package.pk), **cpu())
    package.refresh_from_db()
    assert not package.rdma
    given = {"name_en": "Medium", "name_zh": "中", "cpu_milli": 1000, "memory_mib": 512, "rdma": True}
    assert finance.put(f"/api/v1/console/packages/{package.pk}/", given, "application/json").json()["rdma"]


def test_leftovers_of_a_mode_that_was_unchosen_are_dropped(finance: Client) -> None:
    post(finance, page("package_new"), **cpu(gpu_mode="", gpu_count="4", gpu_model="H200", mig_profile="1g"))
    package = Package.objects.get(name_en="Medium")
    assert (package.gpu_count, package.gpu_model, package.mig_profile) == (0, "", "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cpu_milli", "0"),
        ("cpu_milli", "lots"),
        ("memory_mib", ""),
        ("name_zh", ""),
        ("rate", "1.00001"),
        ("rate", "1,5"),
        ("rate", "-1"),
        ("sort", "-3"),
    ],
)
def test_a_wrong_package_is_refused_beside_the_field(finance: Client, field: str, value: str) -> None:
    response = post(finance, page("package_new"), **cpu(**{field: value}))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not Package.objects.filter(name_en="Medium").exists()


def test_a_name_that_is_taken_is_refused_beside_the_field(finance: Client, world: World) -> None:
    response = post(finance, page("package_new"), **cpu(name_en=world.package.name_en))
    assert response.context["form"].errors["name_en"] == ["Another package has this name."]


def test_a_change_shows_the_old_values_and_logs_only_what_differs(finance: Client, world: World) -> None:
    url = page("package_edit", world.package.pk)
    assert 'value="0.5"' in text_of(finance.get(url))  # 512 MiB in GiB
    data = cpu(name_en=world.package.name_en, name_zh=world.package.name_zh, cpu_milli="1", memory_mib="1", sort="100")
    post(finance, url, **data)
    entry = last_entry("billing.package.update")
    assert (entry.before, entry.after) == ({"memory_mib": 512}, {"memory_mib": 1024})


def test_a_price_from_now_on_ends_the_former_one(finance: Client, world: World) -> None:
    response = post(
        finance, page("package_price", world.package.pk), follow=True, rate="7.8", begins="now", confirmed="yes"
    )
    assert "Price version 2: ¥7.80/h" in messages_of(response)[0]
    old, new = PriceVersion.objects.filter(package=world.package).order_by("number")
    assert old.effective_to == new.effective_from
    entry = last_entry("billing.price.set")
    assert (entry.before["number"], entry.after["number"]) == (1, 2)


def test_the_price_in_force_again_says_that_nothing_was_changed(finance: Client, world: World) -> None:
    price = funds.current_price(world.package.pk)
    assert price is not None
    rate = f"{price.rate_fen_per_hour / 100:.4f}"
    response = post(finance, page("package_price", world.package.pk), follow=True, rate=rate, begins="now")
    assert messages_of(response) == ["This is the price already. Nothing was changed."]
    assert PriceVersion.objects.filter(package=world.package).count() == 1


def test_a_price_may_have_four_decimals_of_a_yuan(finance: Client, world: World) -> None:
    post(finance, page("package_price", world.package.pk), rate="3.5125", begins="now", confirmed="yes")
    price = funds.current_price(world.package.pk)
    assert price is not None
    assert price.rate_fen_per_hour == Decimal("351.25")


def test_a_later_price_waits_for_its_time(finance: Client, world: World) -> None:
    later = timezone.localtime() + timedelta(days=2)
    data = {"rate": "9", "begins": "later", "effective_from": later.strftime("%Y-%m-%dT%H:%M"), "confirmed": "yes"}
    response = post(finance, page("package_price", world.package.pk), follow=True, **data)
    assert "Planned" in text_of(response)
    price = funds.current_price(world.package.pk)
    assert price is not None
    assert price.number == 1
    again = post(finance, page("package_price", world.package.pk), rate="5", begins="now")
    assert again.status_code == 422
    words = f"A later price is already planned for the package {world.package.name_en}."
    assert again.context["form"].non_field_errors() == [words]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"rate": "", "begins": "now"}, "rate"),
        ({"rate": "1", "begins": "later"}, "effective_from"),
        ({"rate": "1", "begins": "later", "effective_from": "2020-01-01T00:00"}, "effective_from"),
        ({"rate": "2000000", "begins": "now"}, "rate"),
    ],
)
def test_a_wrong_price_is_refused_beside_the_field(
    finance: Client, world: World, data: dict[str, Any], field: str
) -> None:
    response = post(finance, page("package_price", world.package.pk), **data)
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert PriceVersion.objects.filter(package=world.package).count() == 1


def test_withdrawing_and_offering_again(finance: Client, world: World) -> None:
    post(finance, page("package_withdraw", world.package.pk))
    world.package.refresh_from_db()
    assert not world.package.active
    assert last_entry("billing.package.update").after == {"active": False}
    post(finance, page("package_withdraw", world.package.pk))  # a second press changes nothing
    assert count_entries("billing.package.update") == 1
    post(finance, page("package_offer", world.package.pk))
    world.package.refresh_from_db()
    assert world.package.active


def test_operations_staff_may_not_touch_prices(ops: Client, world: World) -> None:
    assert post(ops, page("package_price", world.package.pk), rate="1", begins="now").status_code == 403
    assert post(ops, page("package_withdraw", world.package.pk)).status_code == 403


def test_what_no_machine_could_run_is_said_at_once_and_in_the_list(finance: Client, world: World) -> None:
    data = cpu(gpu_mode="whole", gpu_count="1", gpu_model="H900")
    made = text_of(post(finance, page("package_new"), follow=True, **data))
    assert "No machine has this GPU model: H900" in made
    assert "add a machine that can run it" in made
    assert text_of(finance.get(page("packages"))).count("no machine fits") == 1
    package = Package.objects.get(name_en="Medium")
    post(finance, page("package_withdraw", package.pk))
    assert "no machine fits" not in text_of(finance.get(page("packages")))
    assert "add a machine" not in text_of(finance.get(page("package", package.pk)))
