"""The console's pages of prepaid time: prices by the period, orders of all organisations, giving back."""

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.billing.choices import PrepaidStatus, Term
from apps.billing.models import Package, PrepaidOrder, TermPrice
from apps.billing.prepaid.services import Wanted, order
from apps.billing.prepaid.term_prices import set_term_price
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
        return order(alice, wanted=Wanted(package_id=package.pk, term=Term.MONTH, key="k"))


def test_prices_by_the_period_are_set_and_ended(clerk: Client, package: Package) -> None:
    url = f"/console/packages/{package.pk}/terms/"
    assert b"Not offered by the period" in clerk.get(url).content
    assert clerk.post(url, {"term": "month", "price": "300.00"}).status_code == 302
    assert "¥300.00 a month" in clerk.get(url).content.decode()
    assert clerk.post(url, {"term": "month", "price": "300.00"}).status_code == 302
    assert clerk.post(url, {"term": "month", "price": "0"}).status_code == 422
    assert clerk.post(url, {"term": "hour", "price": "1"}).status_code == 422
    ended = clerk.post(url, {"term": "month", "price": ""}, follow=True)
    assert messages_of(ended)[-1] == "It is not offered for this term any more."
    assert b"Paid by the hour only" in clerk.get(url).content
    with acting(platform()):
        assert TermPrice.objects.count() == 1
        changes = Entry.objects.filter(action="billing.term_price.set").order_by("pk").values_list("before", "after")
    assert [after["price_fen"] for _before, after in changes] == [30_000, None]
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
    made = clerk.post(url, {"term": "day", "price_fen": 1_500}, content_type="application/json")
    assert (made.status_code, made.json()["number"]) == (200, 1)
    assert len(clerk.get(url).json()["results"]) == 2
    ended = clerk.post(url, {"term": "day", "price_fen": None}, content_type="application/json")
    assert (ended.status_code, ended.json()["price_fen"]) == (200, None)
    back = f"/api/v1/console/prepaid-orders/{bought.pk}/give-back/"
    assert clerk.post(back, {}, content_type="application/json").status_code == 400
    told = clerk.post(back, {"reason": "wrong"}, content_type="application/json").json()
    assert (told["status"], told["left_fen"]) == ("refunded", 0)
