"""Vouchers, discounts and the price of storage in the console."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.billing import selectors as funds
from apps.billing.choices import VoucherNote, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import Discount, Package, Voucher
from apps.billing.storage.selectors import storage_price
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.builders import World, make_member, platform, signed_in
from tests.console.kit import last_entry, messages_of, page, post, text_of


def terms(world: World, **changes: Any) -> dict[str, Any]:
    today = billing_day(db_now()) + timedelta(days=1)
    data = {
        "key": "one-form",
        "organisation": world.organisation.name,
        "amount": "200",
        "scope": "everything",
        "valid_from": today.isoformat(),
        "valid_until": (today + timedelta(days=30)).isoformat(),
        "note": "Welcome",
    }
    return {**data, **changes}


def vouchers() -> list[Voucher]:
    with acting(platform()):
        return list(Voucher.objects.select_related("organisation"))


def test_a_voucher_is_granted_shown_and_logged(finance: Client, world: World) -> None:
    response = post(finance, page("voucher_new"), follow=True, **terms(world))
    assert messages_of(response) == [f"{world.organisation.name} has a voucher of ¥200.00."]
    assert "Welcome" in text_of(response)
    assert last_entry("billing.voucher.issue").after["amount_fen"] == 20_000
    listed = text_of(finance.get(page("vouchers")))
    assert world.organisation.name in listed
    assert "200.00" in listed


def test_a_second_press_grants_nothing_more(finance: Client, world: World) -> None:
    post(finance, page("voucher_new"), **terms(world))
    post(finance, page("voucher_new"), **terms(world))
    assert len(vouchers()) == 1
    refused = post(finance, page("voucher_new"), **terms(world, amount="300"))
    assert refused.status_code == 422
    assert len(vouchers()) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", "0"),
        ("amount", "1,5"),
        ("organisation", "nobody"),
        ("valid_from", "2020-01-01"),
        ("valid_until", "2020-01-01"),
        ("scope", "gold"),
    ],
)
def test_wrong_terms_are_refused_beside_the_field(finance: Client, world: World, field: str, value: str) -> None:
    response = post(finance, page("voucher_new"), **terms(world, **{field: value}))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not vouchers()


def test_for_one_package_it_names_it(finance: Client, world: World) -> None:
    assert "package" in post(finance, page("voucher_new"), **terms(world, scope="package")).context["form"].errors
    package = Package.objects.order_by("pk").first()
    assert package is not None
    post(finance, page("voucher_new"), **terms(world, scope="package", package=str(package.pk)))
    assert vouchers()[0].package_id == package.pk


def test_what_is_left_is_taken_back_with_a_reason(finance: Client, world: World) -> None:
    post(finance, page("voucher_new"), **terms(world))
    given = vouchers()[0]
    assert post(finance, page("voucher_void", given.pk), reason="").status_code == 422
    response = post(finance, page("voucher_void", given.pk), follow=True, reason="Wrong one")
    assert "Voided" in text_of(response)
    assert last_entry("billing.voucher.void").after["reason"] == "Wrong one"
    assert vouchers()[0].left_fen == 0


def test_who_may_not_sees_nothing_of_it(ops: Client, alice: Client, business: Client, world: World) -> None:
    for client in (ops, alice):
        for name in ("vouchers", "discounts", "storage_price", "voucher_new", "discount_new"):
            assert client.get(page(name)).status_code in (403, 404)
    assert post(business, page("voucher_new"), **terms(world)).status_code in (403, 404)
    assert not vouchers()


def test_an_empty_list_says_what_vouchers_are_for(finance: Client, world: World) -> None:
    assert "No voucher yet" in text_of(finance.get(page("vouchers")))
    assert "No discount yet" in text_of(finance.get(page("discounts")))
    assert "Storage is free" in text_of(finance.get(page("storage_price")))


def discount(world: World, **changes: Any) -> dict[str, Any]:
    return {
        "organisation": world.organisation.name,
        "off": "12.5",
        "begins": "now",
        "note": "Contract 9",
        "confirmed": "yes",
        **changes,
    }


def test_a_discount_is_set_listed_and_ended(finance: Client, world: World) -> None:
    response = post(finance, page("discount_new"), follow=True, **discount(world))
    assert messages_of(response) == [f"{world.organisation.name} has a discount: 12.5 % off."]
    assert "Contract 9" in text_of(response)
    assert last_entry("billing.discount.set").after["off"] == "0.125"
    with acting(platform()):
        version = Discount.objects.get()
    ended = post(finance, page("discount_end", version.pk), follow=True)
    assert "Ended" in text_of(ended)
    assert "Contract 9" not in text_of(finance.get(page("discounts"), {"state": "now"}))
    assert "Contract 9" in text_of(finance.get(page("discounts"), {"state": "past"}))


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("off", {"off": "0"}),
        ("off", {"off": "101"}),
        ("off", {"off": "1.234"}),
        ("effective_from", {"begins": "later"}),
        ("effective_from", {"begins": "later", "effective_from": "2020-01-01T00:00"}),
        ("effective_to", {"effective_to": "2020-01-01T00:00"}),
    ],
)
def test_wrong_discounts_are_refused(finance: Client, world: World, field: str, changes: dict[str, str]) -> None:
    response = post(finance, page("discount_new"), **discount(world, **changes))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    with acting(platform()):
        assert not Discount.objects.exists()


def test_storage_has_a_price_from_now_on(finance: Client, world: World) -> None:
    response = post(finance, page("storage_price"), follow=True, rate="0.0005", begins="now", confirmed="yes")
    text = text_of(response)
    assert "¥0.36" in text  # 30 days
    price = storage_price(db_now())
    assert price is not None
    assert str(price.rate_fen_per_hour) == "0.0500000000"
    again = post(finance, page("storage_price"), follow=True, rate="0.0005", begins="now", confirmed="yes")
    assert "This is the price already. Nothing was changed." in text_of(again)
    assert storage_price(db_now()) == price
    with acting(platform()):
        assert all(each.pk != price.package_id for each in funds.packages(platform(), active_only=False))


def test_reading_staff_do_not_set_it(business: Client, world: World) -> None:
    response = post(business, page("storage_price"), rate="1", begins="now")
    assert response.status_code in (403, 404)
    assert storage_price(db_now()) is None


def test_the_note_of_the_first_voucher_is_read_in_the_readers_language(finance: Client, world: World) -> None:
    """It is stored as it always was, so that vouchers of before read so too; what somebody typed stays as it is."""
    assert VoucherNote.TO_BEGIN_WITH.value == "To begin with"
    today = billing_day(db_now())
    with acting(platform()):
        dora = signed_in(make_member(world.organisation, "dora", Role.ADMIN))
    for note in (VoucherNote.TO_BEGIN_WITH.value, "Grant 2026/7"):
        spec = VoucherSpec(100, VoucherScope.EVERYTHING, today, today, note=note)
        with acting(platform()):
            made = issue_voucher(platform(), organisation_id=world.organisation.pk, spec=spec, key=note)
        for client, path in (
            (finance, page("voucher", made.pk)),
            (finance, page("vouchers")),
            (dora, "/billing/vouchers/"),
        ):
            chinese = text_of(client.get(path, headers={"Accept-Language": "zh-CN"}))
            assert note in text_of(client.get(path, headers={"Accept-Language": "en"}))
            assert {"To begin with": "初次使用赠送"}.get(note, note) in chinese
            assert "To begin with" not in chinese
