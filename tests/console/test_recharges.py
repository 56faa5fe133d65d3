"""Recharges: two steps, one reference one credit, amounts typed strictly."""

from typing import Any

import pytest
from django.test import Client

from apps.billing import selectors as funds
from apps.common.scoping import acting
from tests.builders import World, platform
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of


def slip(world: World, **changes: Any) -> dict[str, Any]:
    data = {
        "organisation": world.organisation.name,
        "amount": "1,500.50",
        "reference": "BANK-7",
        "note": "November",
        "paid_on": "2026-11-03",
        "payer": "East Institute",
        "method": "bank",
    }
    return {**data, **changes}


def balance(world: World) -> int:
    with acting(platform()):
        return funds.wallet(platform(), organisation_id=world.organisation.pk).balance_fen


def test_the_first_step_shows_what_would_happen_and_writes_nothing(finance: Client, world: World) -> None:
    before = balance(world)
    text = text_of(post(finance, page("recharge_new"), **slip(world)))
    assert f"Credit ¥1,500.50 to {world.organisation.name}?" in text
    assert "¥2,500.50" in text  # what the balance would be
    assert balance(world) == before


def test_the_second_step_credits_and_is_logged(finance: Client, world: World) -> None:
    response = post(finance, page("recharge_create"), follow=True, **slip(world))
    assert messages_of(response) == [f"¥1,500.50 was credited to {world.organisation.name}."]
    assert balance(world) == 250_050
    entry = last_entry("billing.top_up")
    assert (entry.after["amount_fen"], entry.after["reference"]) == (150_050, "BANK-7")
    assert entry.organisation_id == world.organisation.pk
    receipt = text_of(response)
    assert "¥1,000.00" in receipt
    assert "¥2,500.50" in receipt


def test_a_double_submit_credits_once(finance: Client, world: World) -> None:
    post(finance, page("recharge_create"), **slip(world))
    again = post(finance, page("recharge_create"), follow=True, **slip(world))
    assert "recorded this payment already" in messages_of(again)[-1]
    assert messages_of(again)[-1].endswith("Nothing was added.")
    assert balance(world) == 250_050
    assert count_entries("billing.top_up") == 2  # the world's own, and this one


def test_the_same_reference_with_another_amount_is_an_error_in_both_steps(finance: Client, world: World) -> None:
    post(finance, page("recharge_create"), **slip(world))
    for step in ("recharge_new", "recharge_create"):
        response = post(finance, page(step), **slip(world, amount="9"))
        assert response.status_code == 422
        assert "reference" in response.context["form"].errors
    assert balance(world) == 250_050


def test_a_reference_that_is_recorded_already_is_said_before_confirming(finance: Client, world: World) -> None:
    post(finance, page("recharge_create"), **slip(world))
    text = text_of(post(finance, page("recharge_new"), **slip(world)))
    assert "Confirming adds nothing" in text


@pytest.mark.parametrize(
    "amount", ["", "0", "-5", "1,5", "12,34.00", "1.005", "1e3", "１００", "¥", "abc", "1000000.01", "NaN", "0x10"]
)
def test_an_amount_that_could_be_read_in_two_ways_is_refused(finance: Client, world: World, amount: str) -> None:
    response = post(finance, page("recharge_new"), **slip(world, amount=amount))
    assert response.status_code == 422
    assert "amount" in response.context["form"].errors
    assert 'value="BANK-7"' in text_of(response)  # nothing typed is lost


@pytest.mark.parametrize(("typed", "fen"), [("1500", 150_000), ("¥ 1,500", 150_000), ("0.01", 1), ("12.3", 1_230)])
def test_amounts_are_read_as_people_write_them(finance: Client, world: World, typed: str, fen: int) -> None:
    before = balance(world)
    post(finance, page("recharge_create"), **slip(world, amount=typed))
    assert balance(world) == before + fen


@pytest.mark.parametrize(
    ("field", "value"), [("organisation", "no such house"), ("reference", " "), ("organisation", "")]
)
def test_what_is_missing_is_said_beside_its_field(finance: Client, world: World, field: str, value: str) -> None:
    response = post(finance, page("recharge_new"), **slip(world, **{field: value}))
    assert response.status_code == 422
    assert field in response.context["form"].errors


def test_back_from_the_second_step_everything_is_still_typed(finance: Client, world: World) -> None:
    response = post(finance, page("recharge_new"), edit="1", **slip(world))
    assert response.status_code == 200
    text = text_of(response)
    assert 'value="1,500.50"' in text
    assert 'value="November"' in text


def test_business_staff_may_not_credit(business: Client, world: World) -> None:
    assert post(business, page("recharge_create"), **slip(world)).status_code == 403
    assert balance(world) == 100_000


def test_the_list_filters_by_organisation_and_adds_up(finance: Client, world: World) -> None:
    post(finance, page("recharge_create"), **slip(world))
    text = text_of(finance.get(page("recharges"), {"organisation": world.organisation.slug}))
    assert "BANK-7" in text
    assert "¥2,500.50" in text  # 1,000.00 of the world and 1,500.50
    assert "BANK-7" not in text_of(finance.get(page("recharges"), {"organisation": "no such house"}))
