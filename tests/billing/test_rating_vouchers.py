"""Which usage a rating lets a voucher pay: that of one package, of one model of card, of storage."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.billing import services
from apps.billing.models import RatingRun
from apps.billing.storage.services import set_storage_price
from apps.common.actor import Actor
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, make_package, make_voucher, price_of

LATER = NOON + timedelta(days=400)
HOUR = timedelta(hours=1)


def paid_by_vouchers() -> int:
    services.rate_due(PLATFORM, until=LATER)
    return RatingRun.objects.get().voucher_fen


@pytest.mark.parametrize(("its_package", "paid"), [(True, 780), (False, 0)])
def test_a_voucher_for_one_package_pays_for_that_package_alone(
    lab: Organisation, alice: Actor, its_package: bool, paid: int
) -> None:
    package = make_package(780)
    make_voucher(lab, 5_000, "package", package=package if its_package else make_package(600))
    Run(alice, price_of(package)).open().close(HOUR)
    assert paid_by_vouchers() == paid


@pytest.mark.parametrize(("model", "paid"), [("A100", 600), ("A800", 0)])
def test_a_voucher_for_one_model_pays_for_work_on_that_model_alone(
    lab: Organisation, alice: Actor, model: str, paid: int
) -> None:
    package = make_package(600, gpu_count=1, gpu_mode="whole", gpu_model="A100", gpu_core_milli=1000)
    make_voucher(lab, 5_000, "gpu_model", gpu_model=model)
    Run(alice, price_of(package)).open().close(HOUR)
    assert paid_by_vouchers() == paid


@pytest.mark.parametrize(("stored", "paid"), [(True, 100), (False, 0)])
def test_a_voucher_for_storage_pays_for_what_is_stored_alone(
    lab: Organisation, alice: Actor, stored: bool, paid: int
) -> None:
    storage = set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(1)).version
    make_voucher(lab, 5_000, "storage")
    Run(alice, storage if stored else price_of(make_package(1)), replicas=100).open().close(HOUR)
    assert paid_by_vouchers() == paid
