"""What an expired prepaid order covered is saved and stopped where the order says so; covered work outlives arrears."""

from datetime import timedelta

import pytest

from apps.billing import services as billing
from apps.billing.choices import PrepaidEnd, Term
from apps.billing.models import ArrearsState, PrepaidOrder
from apps.billing.prepaid.changes import give_back
from apps.billing.prepaid.services import OrderSpec, order
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.billing.prepaid.term_prices import set_term_price
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.workloads import services
from apps.workloads.choices import Reason, Status
from tests.builders import World, make_world, platform, reload, submit_workload
from tests.workloads.loops import until

pytestmark = pytest.mark.programs


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        made = make_world(balance_fen=50_000, role=Role.ADMIN, rate_fen=360)
        set_term_price(platform(), package_id=made.package.pk, term=Term.MONTH, price_fen=30_000)
        return made


def prepay(world: World) -> PrepaidOrder:
    with acting(world.actor):
        wanted = OrderSpec(package_id=world.package.pk, term=Term.MONTH, key="k", at_end=PrepaidEnd.STOP)
        return order(world.actor, wanted=wanted)


def test_work_is_stopped_when_the_order_that_covered_it_expires(world: World) -> None:
    bought = prepay(world)
    with acting(world.actor):
        workload = submit_workload(world, argv=("sleep", "120"))
    with acting(platform()):
        until(workload, lambda w: w.status == Status.RUNNING)
        assert services.enforce_prepaid_ends(platform()) == 0
        assert prepaid_sweep(platform(), now=bought.covers_until + timedelta(seconds=1)) == 1
        # The order has expired by the sweep's clock; let it have ended by everybody's.
        PrepaidOrder.objects.filter(pk=bought.pk).update(covers_until=db_now())
        assert services.enforce_prepaid_ends(platform()) == 1
        assert services.enforce_prepaid_ends(platform()) == 0
        until(workload, lambda w: w.status == Status.STOPPED)
        assert reload(workload).reason == Reason.PREPAID


def test_covered_work_goes_on_while_its_organisation_is_suspended(world: World) -> None:
    bought = prepay(world)
    with acting(world.actor):
        workload = submit_workload(world, argv=("sleep", "120"))
    with acting(platform()):
        until(workload, lambda w: w.status == Status.RUNNING)
        billing.arrears_sweep(platform())
        ArrearsState.objects.update_or_create(pk=world.organisation.pk, defaults={"status": "suspended"})
        assert services.enforce_arrears(platform()) == 0
        give_back(platform(), order_id=bought.pk, reason="end of the test")
        ArrearsState.objects.filter(pk=world.organisation.pk).update(status="suspended")
        assert services.enforce_arrears(platform()) == 1
        until(workload, lambda w: w.status == Status.STOPPED)
        assert reload(workload).reason == Reason.ARREARS
