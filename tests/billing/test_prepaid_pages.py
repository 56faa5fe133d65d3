"""The portal's pages of prepaid time."""

from uuid import uuid4

import pytest
from django.test import Client

from apps.billing.choices import PrepaidStatus, Term
from apps.billing.models import Package, PrepaidOrder, PrepaidPurchase
from apps.billing.prepaid.selectors import term_price
from apps.billing.prepaid.term_prices import set_term_price
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.builders import make_member, make_organisation, make_package, platform, signed_in

pytestmark = pytest.mark.django_db
BASE = "/billing/prepaid/"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation(balance_fen=100_000)


@pytest.fixture
def package() -> Package:
    with acting(platform()):
        made = make_package(360)
        set_term_price(platform(), package_id=made.pk, term=Term.MONTH, price_fen=30_000)
        return made


@pytest.fixture
def alice(lab: Organisation) -> Client:
    return enter(lab, "alice", Role.ADMIN)


def enter(organisation: Organisation, name: str, role: Role) -> Client:
    with acting(platform()):
        return signed_in(make_member(organisation, name, role))


def asked(package: Package, **parts: object) -> dict[str, object]:
    price = term_price(package.pk, Term.MONTH)
    assert price
    return {"price": price.pk, "quantity": 1, "periods": 1, "at_end": "hourly", "key": str(uuid4()), **parts}


def the_order() -> PrepaidOrder:
    with acting(platform()):
        return PrepaidOrder.objects.get()


def test_an_order_from_the_first_look_to_giving_it_back(alice: Client, package: Package) -> None:
    assert b"Nothing is prepaid" in alice.get(BASE).content
    assert alice.get(f"{BASE}new/?package={package.pk}").status_code == 200
    told = alice.post(f"{BASE}quote/", asked(package, quantity=2))
    assert "¥600.00" in told.content.decode()
    sent = asked(package, quantity=2)
    first, second = alice.post(f"{BASE}new/", sent), alice.post(f"{BASE}new/", sent)
    made = the_order()
    assert first.headers["Location"] == second.headers["Location"] == f"{BASE}{made.pk}/"
    page = alice.get(f"{BASE}{made.pk}/")
    assert package.name_en in page.content.decode()
    renewed = alice.post(
        f"{BASE}{made.pk}/renew/",
        {"periods": 1, "after": made.ends_at.isoformat(), "price": sent["price"]},
    )
    assert renewed.status_code == 422
    assert "short of" in renewed.content.decode()
    alice.post(f"{BASE}{made.pk}/renewal/", {"auto_renew": "on", "at_end": "stop"})
    assert the_order().auto_renew
    assert b"go back to the wallet" in alice.get(f"{BASE}{made.pk}/give-back/").content
    alice.post(f"{BASE}{made.pk}/give-back/")
    assert the_order().status == PrepaidStatus.REFUNDED
    over = alice.get(f"{BASE}{made.pk}/").content.decode()
    assert "It covers nothing since" in over
    assert "is covered and shown as prepaid" not in over
    assert "Renews itself" not in over
    assert package.name_en in alice.get(BASE, {"status": "refunded"}).content.decode()
    assert b"No order fits" in alice.get(BASE, {"status": "active"}).content


def test_a_renewal_and_a_change_on_the_page(alice: Client, package: Package) -> None:
    alice.post(f"{BASE}new/", asked(package))
    made, price = the_order(), asked(package)["price"]
    seen = {"periods": 1, "after": made.ends_at.isoformat(), "price": price}
    assert alice.post(f"{BASE}{made.pk}/renew/", seen).status_code == 302
    assert alice.post(f"{BASE}{made.pk}/renew/", seen).status_code == 302
    with acting(platform()):
        assert PrepaidPurchase.objects.count() == 2
    assert alice.get(f"{BASE}{made.pk}/change/").status_code == 200
    refused = alice.post(f"{BASE}{made.pk}/change/", {"price": price, "quantity": 1})
    assert refused.status_code == 422
    with acting(platform()):
        set_term_price(platform(), package_id=package.pk, term=Term.MONTH, price_fen=10_000)
    changed = alice.post(f"{BASE}{made.pk}/change/", {"price": asked(package)["price"], "quantity": 2})
    assert changed.status_code == 302
    assert b"Another order took its place" in alice.get(f"{BASE}{made.pk}/").content


def test_bad_input_stands_beside_its_field(alice: Client, package: Package) -> None:
    for wrong in ({"quantity": 0}, {"periods": "x"}, {"price": 0}, {"periods": 61}, {"quantity": 4}):
        page = alice.post(f"{BASE}new/", asked(package, **wrong))
        assert page.status_code == 422, wrong
        assert alice.post(f"{BASE}quote/", asked(package, **wrong)).status_code == 200
    with acting(platform()):
        assert not PrepaidOrder.objects.exists()


def test_members_may_not_and_strangers_see_nothing(alice: Client, lab: Organisation, package: Package) -> None:
    alice.post(f"{BASE}new/", asked(package))
    with acting(platform()):
        elsewhere = make_organisation()
    bob, charlie = enter(lab, "bob", Role.MEMBER), enter(elsewhere, "charlie", Role.ADMIN)
    assert bob.get(f"{BASE}new/").status_code == 403
    assert charlie.get(f"{BASE}{the_order().pk}/").status_code == 404
    assert charlie.post(f"{BASE}{the_order().pk}/give-back/").status_code == 404
    assert the_order().status == PrepaidStatus.ACTIVE
