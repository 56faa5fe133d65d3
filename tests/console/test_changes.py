"""Changes of prices, discounts and credit on the pages and by API: shown first, then made, or decided by two."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation

from apps.billing.models import Account, ChangeRequest, Discount, PriceVersion, RechargeRequest, UnitPrice
from apps.billing.payments import recharge_review
from apps.common.actor import Actor
from apps.common.discounts import discount_words
from apps.common.scoping import acting
from apps.console.finance.discounts.forms import DiscountForm, share_of
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from tests.builders import World, make_organisation, make_staff, platform, signed_in
from tests.console.kit import client_of, count_entries, messages_of, page, post, text_of
from tests.console.test_received import PDF, given

ROOT = "/api/v1/console"


def send(client: Client, path: str, body: dict[str, Any], method: str = "post") -> Any:
    return getattr(client, method)(f"{ROOT}/{path}", body, content_type="application/json")


def pending() -> ChangeRequest:
    with acting(platform()):
        return ChangeRequest.objects.get(state="pending")


def another() -> Organisation:
    with acting(platform()):
        return make_organisation()


def test_a_price_is_shown_with_what_it_does_before_it_is_set(fang: Actor, world: World) -> None:
    client, url = client_of(fang), page("package_price", world.package.pk)
    shown = post(client, url, rate="3.50", begins="now")
    text = text_of(shown)
    assert shown.status_code == 200
    assert "¥3.60/h → ¥3.50/h" in text
    assert "About a month, by the last 30 days" in text
    assert "keeps the price that it was quoted" in text
    assert PriceVersion.objects.filter(package=world.package).count() == 1
    again = post(client, url, rate="3.50", begins="now", edit="1")
    assert 'value="3.50"' in text_of(again)
    done = post(client, url, follow=True, rate="3.50", begins="now", confirmed="yes")
    assert "Price version 2: ¥3.50/h" in messages_of(done)[0]


def test_two_clerks_decide_on_a_price(fang: Actor, guo: Actor, world: World) -> None:
    first, second, url = client_of(fang), client_of(guo), page("package_price", world.package.pk)
    shown = text_of(post(first, url, rate="0.50", begins="now"))
    assert "Request approval" in shown
    assert "20 %" in shown
    asked = post(first, url, follow=True, rate="0.50", begins="now", confirmed="yes")
    assert messages_of(asked) == ["Asked for: a second person has to approve it."]
    assert "Approve…" not in text_of(asked)
    request = pending()
    assert "¥3.60/h → ¥0.50/h" in text_of(second.get(page("change_requests")))
    assert "Approve…" in text_of(second.get(page("change_request", request.pk)))
    assert "in force as soon as" in text_of(second.get(page("change_request_act", request.pk, "approve")))
    own = post(first, page("change_request_act", request.pk, "approve"), follow=True)
    assert "a second person has to" in messages_of(own)[0]
    post(second, page("change_request_act", request.pk, "approve"))
    assert PriceVersion.objects.get(package=world.package, effective_to__isnull=True).rate_fen_per_hour == 50
    assert count_entries("billing.change.approved") == 1


def test_a_denial_needs_a_reason_and_a_request_can_be_taken_back(fang: Actor, guo: Actor, world: World) -> None:
    first, second = client_of(fang), client_of(guo)
    asked = {"rate": "0.50", "begins": "now", "confirmed": "yes"}
    post(first, page("package_price", world.package.pk), **asked)
    assert post(second, page("change_request_deny", pending().pk), answer=" ").status_code == 422
    post(second, page("change_request_deny", pending().pk), answer="Too low.")
    post(first, page("package_price", world.package.pk), **asked)
    post(first, page("change_request_act", pending().pk, "withdraw"))
    with acting(platform()):
        states = list(ChangeRequest.objects.order_by("created_at").values_list("state", flat=True))
    assert states == ["denied", "withdrawn"]


def test_a_credit_limit_above_one_persons_waits(fang: Actor, guo: Actor, world: World) -> None:
    organisation = another()
    first, url = client_of(fang), page("organisation_terms", organisation.pk)
    response = post(first, url, follow=True, weight=str(organisation.weight), credit_limit="900,000.00")
    assert "¥900,000.00" in messages_of(response)[0]
    with acting(platform()):
        assert not Account.objects.filter(organisation=organisation, credit_limit_fen__gt=0).exists()
    post(client_of(guo), page("change_request_act", pending().pk, "approve"))
    with acting(platform()):
        assert Account.objects.filter(organisation=organisation, credit_limit_fen=90_000_000).exists()


def test_the_api_previews_asks_and_decides(fang: Actor, guo: Actor, world: World) -> None:
    first, second = client_of(fang), client_of(guo)
    url = f"packages/{world.package.pk}/prices/"
    seen = send(first, f"{url}preview/", {"rate_fen_per_hour": "100"}).json()
    assert (seen["old"], seen["new"], seen["second_person"], seen["keeps"]) == (
        "360.0000000000",
        "100.0000000000",
        "price",
        True,
    )
    made = send(first, url, {"rate_fen_per_hour": "100"})
    assert (made.status_code, made.json()["kind"], made.json()["state"]) == (202, "package_price", "pending")
    assert [row["id"] for row in first.get(f"{ROOT}/change-requests/").json()["results"]] == [made.json()["id"]]
    decide = f"change-requests/{made.json()['id']}"
    assert send(first, f"{decide}/approve/", {}).status_code == 409
    assert send(second, f"{decide}/approve/", {}).json()["state"] == "approved"
    assert send(first, f"{decide}/withdraw/", {}).status_code == 409
    limit = send(first, f"organisations/{world.organisation.pk}/credit-limit/", {"credit_limit_fen": 10**8}, "put")
    assert (limit.status_code, limit.json()["why"]) == (202, "amount")
    assert send(second, f"change-requests/{limit.json()['id']}/deny/", {"answer": "No."}).json()["answer"] == "No."
    off = {"organisation_id": str(world.organisation.pk), "off": "0.5"}
    assert send(first, "discounts/preview/", off).json()["second_person"] == "discount"
    assert send(first, "discounts/", off).status_code == 202
    unit = {"item": "gpu", "gpu_mode": "whole", "gpu_model": "A100", "rate_fen_per_hour": "1"}
    assert send(first, "prices/preview/", unit).json()["unused"] is True
    assert not UnitPrice.objects.exists()
    assert send(first, "storage-price/preview/", {"rate_fen_per_hour": "2500"}).json()["keeps"] is False


def test_loosening_the_limits_on_the_page_asks_a_second_person(root: Client, world: World) -> None:
    data = {"which": "recharge", "recharge-alone_fen": "20000.00", "recharge-discount_percent": "20"}
    response = post(root, page("settings_payment"), follow=True, **data, **{"recharge-price_drop_percent": "20"})
    assert "second person has approved it" in messages_of(response)[0]
    assert pending().kind == "limits"
    loosened = send(root, "settings/payment/", {"price_drop_percent": 90}, "patch")
    assert loosened.status_code == 409  # another one waits
    stricter = send(root, "settings/payment/", {"price_drop_percent": 5}, "patch")
    assert (stricter.status_code, stricter.json()["price_drop_percent"]) == (200, 5)


def test_the_only_person_is_told_what_to_do(world: World) -> None:
    with acting(platform()):
        only = make_staff(PlatformRole.SUPER)
        User.objects.filter(platform_assignments__isnull=False).exclude(pk=only.pk).update(is_active=False)
    client = signed_in(only)
    shown = text_of(post(client, page("package_price", world.package.pk), rate="0.50", begins="now"))
    assert "You are the only one with this right" in shown
    assert page("staff") in shown
    asked = post(
        client, page("package_price", world.package.pk), follow=True, rate="0.50", begins="now", confirmed="yes"
    )
    assert "You are the only one with this right" in text_of(asked)


@pytest.mark.parametrize(
    ("typed", "unit", "off"),
    [
        ("8.5", "zhe", "0.15"),
        ("８．５折", "zhe", "0.15"),
        ("9", "zhe", "0.1"),
        ("0", "zhe", "1"),
        ("15", "percent", "0.15"),
        ("15%", "percent", "0.15"),
        ("85", "percent", "0.85"),
    ],
)
def test_a_discount_is_read_as_people_say_it(typed: str, unit: str, off: str) -> None:
    assert share_of(typed, unit) == Decimal(off)


@pytest.mark.parametrize(
    ("typed", "unit"),
    [("85", "zhe"), ("10", "zhe"), ("-1", "zhe"), ("", "zhe"), ("x", "percent"), ("101", "percent"), ("0", "percent")],
)
def test_what_cannot_be_meant_is_refused(finance: Client, world: World, typed: str, unit: str) -> None:
    data = {"organisation": world.organisation.name, "off": typed, "unit": unit, "begins": "now", "confirmed": "yes"}
    response = post(finance, page("discount_new"), **data)
    assert response.status_code == 422
    assert "off" in response.context["form"].errors
    with acting(platform()):
        assert not Discount.objects.exists()
        assert not ChangeRequest.objects.exists()


def test_85_in_zhe_says_what_to_write(finance: Client, world: World) -> None:
    shown = text_of(finance.get(page("discount_reading"), {"off": "85", "unit": "zhe"}))
    assert "Write 8.5 for paying 85 %" in shown
    both = text_of(
        finance.get(page("discount_reading"), {"off": "8.5", "unit": "zhe", "organisation": world.organisation.name})
    )
    assert "pays 85 %" in both
    assert "15 % off" in both
    assert "¥3.60/h → ¥3.06/h" in both


def test_each_language_says_a_discount_in_its_way() -> None:
    with translation.override("zh-hans"):
        assert discount_words(Decimal("0.15")) == "8.5 折"
        assert DiscountForm()["unit"].value() == "zhe"
    with translation.override("en"):
        assert discount_words(Decimal("0.15")) == "15 % off"
        assert DiscountForm()["unit"].value() == "percent"


def test_a_receipt_that_is_booked_elsewhere_is_said_before_and_to_the_approver(
    fang: Actor, guo: Actor, world: World
) -> None:
    other = another()
    with acting(fang):
        recharge_review.recharge(fang, organisation_id=other.pk, amount_fen=500, reference="BANK-2")
    slip = given(world, amount="5.00", reference="BANK-2")
    shown = text_of(post(client_of(fang), page("recharge_new"), **slip))
    assert f"Already booked for {other.name}" in shown
    assert "Request approval" in shown
    post(client_of(fang), page("recharge_create"), **slip, proofs=SimpleUploadedFile("slip.pdf", PDF))
    with acting(platform()):
        request = RechargeRequest.objects.get()
    assert f"Already booked for {other.name}" in text_of(client_of(guo).get(page("recharge_request", request.pk)))


def test_business_and_operations_see_none_of_it(business: Client, ops: Client, world: World) -> None:
    for client in (business, ops):
        assert client.get(page("change_requests")).status_code == 403
        assert client.get(f"{ROOT}/change-requests/").status_code == 403
        assert send(client, "storage-price/preview/", {"rate_fen_per_hour": "1"}).status_code == 403
