"""The console's pages of prepaid time: prices by the period, orders of all organisations, giving back."""

from decimal import Decimal

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.billing.choices import PrepaidEnd, PrepaidStatus, Term
from apps.billing.models import Package, PrepaidOrder, TermPrice
from apps.billing.prepaid.services import OrderSpec, order, set_renewal
from apps.billing.prepaid.term_prices import set_term_price
from apps.billing.prices.discounts.services import set_discount
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from tests.builders import actor_of, make_member, make_organisation, make_package, make_staff, platform, signed_in
from tests.console.kit import messages_of

pytestmark = pytest.mark.django_db
BASE = "/console/prepaid/"


@pytest.fixture
def package() -> Package:
    with acting(platform()):
        return make_package(360)


@pytest.fixture
def clerk() -> Client:
    return enter(PlatformRole.FINANCE)


def enter(role: PlatformRole) -> Client:
    with acting(platform()):
        return signed_in(make_staff(role))


@pytest.fixture
def bought(package: Package) -> PrepaidOrder:
    with acting(platform()):
        set_term_price(platform(), package_id=package.pk, term=Term.MONTH, price_fen=30_000)
        lab = make_organisation(balance_fen=100_000)
        alice = actor_of(make_member(lab, "alice", Role.ADMIN), lab)
    with acting(alice):
        return order(alice, wanted=OrderSpec(package_id=package.pk, term=Term.MONTH, key="k"))


def test_prices_by_the_period_are_set_and_ended(clerk: Client, package: Package) -> None:
    url = f"/console/packages/{package.pk}/terms/"
    assert b"Not offered by the period" in clerk.get(url).content
    month = {"term": "month", "price": "2,400.00"}
    assert clerk.post(url, month).status_code == 200  # what it does is shown first
    assert not TermPrice.objects.exists()
    assert clerk.post(url, {**month, "confirmed": "yes"}).status_code == 302
    assert "¥2,400.00 a month" in clerk.get(url).content.decode()
    same = clerk.post(url, month, follow=True)
    assert messages_of(same)[-1] == "This is the price already. Nothing was changed."
    assert clerk.post(url, {"term": "month", "price": "0"}).status_code == 422
    assert clerk.post(url, {"term": "hour", "price": "1"}).status_code == 422
    ended = clerk.post(url, {"term": "month", "price": "", "confirmed": "yes"}, follow=True)
    assert messages_of(ended)[-1] == "It is not offered for this term any more."
    assert b"Paid by the hour only" in clerk.get(url).content
    with acting(platform()):
        assert TermPrice.objects.count() == 1
        changes = Entry.objects.filter(action="billing.term_price.set").order_by("pk").values_list("before", "after")
    assert [after["price_fen"] for _before, after in changes] == [240_000, None]
    assert clerk.get("/console/packages/999999999/terms/").status_code == 404


def test_staff_see_every_order_and_give_one_back_with_a_reason(clerk: Client, bought: PrepaidOrder) -> None:
    assert "¥300.00 paid" in clerk.get(BASE).content.decode()
    assert b"No prepaid orders" in clerk.get(BASE, {"status": "expired"}).content
    assert b"prepaid:" in clerk.get(f"{BASE}{bought.pk}/").content
    assert clerk.get(f"{BASE}{bought.pk}/give-back/").status_code == 200
    assert clerk.post(f"{BASE}{bought.pk}/give-back/", {"reason": " "}).status_code == 422
    assert clerk.post(f"{BASE}{bought.pk}/give-back/", {"reason": "wrong package"}).status_code == 302
    with acting(platform()):
        assert PrepaidOrder.objects.get().status == PrepaidStatus.REFUNDED
        assert Entry.objects.get(action="billing.prepaid.refund").after["reason"] == "wrong package"


def test_other_staff_may_not(bought: PrepaidOrder, package: Package) -> None:
    ops = enter(PlatformRole.OPS)
    assert ops.get(BASE).status_code == 403
    assert ops.get(f"/console/packages/{package.pk}/terms/").status_code == 403


def test_the_api_says_the_same(clerk: Client, bought: PrepaidOrder, package: Package) -> None:
    rows = clerk.get("/api/v1/console/prepaid-orders/", {"status": "active"}).json()["results"]
    assert [(row["id"], row["paid_fen"]) for row in rows] == [(str(bought.pk), 30_000)]
    url = f"/api/v1/console/packages/{package.pk}/term-prices/"
    made = clerk.post(url, {"term": "day", "price_fen": 8_000}, content_type="application/json")
    assert (made.status_code, made.json()["number"]) == (200, 1)
    assert len(clerk.get(url).json()["results"]) == 2
    ended = clerk.post(url, {"term": "day", "price_fen": None}, content_type="application/json")
    assert (ended.status_code, ended.json()["price_fen"]) == (200, None)
    back = f"/api/v1/console/prepaid-orders/{bought.pk}/give-back/"
    assert clerk.post(back, {}, content_type="application/json").status_code == 400
    told = clerk.post(back, {"reason": "wrong"}, content_type="application/json").json()
    assert (told["status"], told["left_fen"]) == ("refunded", 0)


def review(clerk: Client, package: Package, price: str, **more: str) -> str:
    answer = clerk.post(f"/console/packages/{package.pk}/terms/", {"term": "month", "price": price, **more})
    assert answer.status_code == 200
    return answer.content.decode()


def buyer(order: PrepaidOrder) -> Actor:
    with acting(platform()):
        return actor_of(order.user, order.organisation)


def renews(order: PrepaidOrder) -> None:
    with acting(buyer(order)) as alice:
        set_renewal(alice, order_id=order.pk, auto_renew=True, at_end=PrepaidEnd.HOURLY)


def test_what_a_price_by_the_period_does_is_shown_first(clerk: Client, bought: PrepaidOrder, package: Package) -> None:
    renews(bought)
    page = review(clerk, package, "350")
    assert "¥300.00 → ¥350.00" in page
    assert "1 of them renews itself" in page
    assert bought.organisation.name in page
    assert "+¥50.00 / +¥50.00" in page
    assert "as many hours by the hour: ¥2,592.00" in page
    with acting(platform()):
        assert TermPrice.objects.get().price_fen == 30_000


def test_the_sums_follow_replicas_discount_and_who_renews(
    clerk: Client, bought: PrepaidOrder, package: Package
) -> None:
    """Two bases: what was bought within the days, and what renews; the organisation's discount counts in the second."""
    url = f"/api/v1/console/packages/{package.pk}/term-prices/preview/"
    asked = {"term": "month", "price_fen": 33_000}

    def seen() -> tuple[int, int, int, int]:
        body = clerk.post(url, asked, content_type="application/json").json()
        return body["orders"], body["renewing"], body["used_fen"], body["now_fen"]

    assert seen() == (1, 0, 3_000, 0)
    with acting(buyer(bought)) as alice:
        two = OrderSpec(package_id=package.pk, term=Term.MONTH, key="two", quantity=2, auto_renew=True)
        order(alice, wanted=two)
    assert seen() == (2, 1, 9_000, 6_000)
    with acting(platform()):
        set_discount(platform(), organisation_id=bought.organisation_id, off=Decimal("0.1"))
    assert seen() == (2, 1, 9_000, 5_400)
    asked["price_fen"] = 24_000
    assert clerk.post(url, asked, content_type="application/json").json()["second_person"] is None
    asked["price_fen"] = 10_000
    assert clerk.post(url, asked, content_type="application/json").json()["second_person"] == "price"
    with acting(platform()):
        assert TermPrice.objects.get().price_fen == 30_000


def test_ending_an_offer_that_orders_renew_at_says_so(clerk: Client, bought: PrepaidOrder, package: Package) -> None:
    assert "cannot renew any more" not in review(clerk, package, "")
    renews(bought)
    page = review(clerk, package, "")
    assert "¥300.00 → not offered" in page
    assert "cannot renew any more" in page


def test_what_was_typed_is_there_again_after_going_back(clerk: Client, package: Package) -> None:
    page = review(clerk, package, "2,400.50", edit="1")
    assert 'value="2,400.50"' in page


def test_whoever_approves_a_price_by_the_period_sees_what_it_does(bought: PrepaidOrder, package: Package) -> None:
    first, second = enter(PlatformRole.FINANCE), enter(PlatformRole.FINANCE)
    renews(bought)
    there = first.post(
        f"/console/packages/{package.pk}/terms/", {"term": "month", "price": "100", "confirmed": "yes"}, follow=True
    ).redirect_chain[-1][0]
    page = second.get(there).content.decode()
    assert "¥300.00 → ¥100.00" in page
    assert "1 of them renews itself" in page
