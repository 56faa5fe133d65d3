"""What the organisation sees of its vouchers and its discount, on pages and by API."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.billing import services as billing
from apps.billing.choices import VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import Charge, Voucher
from apps.billing.prices.discounts.services import set_discount
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Organisation, User
from tests.builders import World, make_charged, make_organisation, platform, signed_in

pytestmark = pytest.mark.django_db


def grant(organisation: Organisation, fen: int = 50_000, note: str = "Spring") -> Voucher:
    first = billing_day(db_now()) + timedelta(days=1)
    spec = VoucherSpec(fen, VoucherScope.EVERYTHING, first, first + timedelta(days=30), note=note)
    with acting(platform()) as staff:
        return issue_voucher(staff, organisation_id=organisation.pk, spec=spec, key=note)


def test_the_wallet_shows_vouchers_and_the_discount(world: World, bob: User) -> None:
    grant(world.organisation)
    with acting(platform()) as staff:
        grant(make_organisation(), note="Others")
        set_discount(staff, organisation_id=world.organisation.pk, off=Decimal("0.125"))
    client = signed_in(world.alice)
    page = client.get("/billing/wallet/").content.decode()
    for words in ("Spring", "500.00", "A discount of 12.5 % is taken off every price."):
        assert words in page
    assert "Others" not in page
    listed = client.get("/billing/vouchers/").content.decode()
    assert "Spring" in listed
    assert "Others" not in listed
    assert "Spring" not in client.get("/billing/vouchers/", {"state": "expired"}).content.decode()
    assert signed_in(bob).get("/billing/vouchers/").status_code == 403


def test_without_any_the_list_says_what_they_are(world: World) -> None:
    assert "No voucher yet" in signed_in(world.alice).get("/billing/vouchers/").content.decode()


def test_the_api_shows_ones_own_and_nobody_else_s(world: World) -> None:
    mine = grant(world.organisation)
    with acting(platform()):
        theirs = grant(make_organisation(), note="Others")
    client = signed_in(world.alice)
    rows = client.get("/api/v1/vouchers/").json()["results"]
    assert [(row["id"], row["left_fen"], row["state"]) for row in rows] == [(mine.pk, 50_000, "planned")]
    assert client.get(f"/api/v1/vouchers/{mine.pk}/").json()["note"] == "Spring"
    assert client.get(f"/api/v1/vouchers/{theirs.pk}/").status_code == 404
    assert client.get("/api/v1/discount/").status_code == 404
    with acting(platform()) as staff:
        set_discount(staff, organisation_id=world.organisation.pk, off=Decimal("0.125"))
    assert client.get("/api/v1/discount/").json()["off"] == "0.1250"


def test_a_charge_shows_its_discount(world: World) -> None:
    with acting(platform()) as staff:
        set_discount(staff, organisation_id=world.organisation.pk, off=Decimal("0.25"))
        # Metered from now on: the discount did not hold before.
        workload_id = make_charged(world.organisation, world.alice, world.package, ago=timedelta(hours=-1))
        billing.rate_due(staff, until=db_now() + timedelta(hours=9))
        charge = Charge.objects.get(session__workload_id=workload_id)
    assert charge.discount_off == Decimal("0.25")
    page = signed_in(world.alice).get(f"/billing/consumption/{workload_id}/?charge={charge.pk}").content.decode()
    assert "× 0.75" in page
    assert "25 %" in page
