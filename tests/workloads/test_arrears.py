"""When the money runs out while something runs: notice, grace, stop, and a top-up that lets work start again."""

from datetime import timedelta

import pytest

from apps.billing import policy, selectors
from apps.billing import services as billing
from apps.billing.models import ArrearsState
from apps.common.clock import db_now
from apps.common.errors import InsufficientFunds
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.workloads import services
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_world, platform, reload, submit_workload, top_up
from tests.workloads.loops import until

pytestmark = pytest.mark.programs


@pytest.fixture
def poor(db: None) -> World:
    """Money for exactly the first hour, at a price that eats it in seconds of test time."""
    with acting(platform()):
        return make_world(balance_fen=360_000, role=Role.ADMIN, rate_fen=360_000)


def spend(workload: Workload, hours: float) -> None:
    """Let the meter have run for `hours`: the attempt began that much earlier."""
    attempt = Attempt.objects.get(workload=workload)
    billing.extend_meter(session_id=attempt.pk, proven_until=db_now() + timedelta(hours=hours))
    billing.rate_due(platform(), until=db_now() + timedelta(hours=hours + 1))


def test_running_dry_warns_then_stops_and_a_top_up_lets_work_start_again(poor: World) -> None:
    with acting(poor.actor):
        workload = submit_workload(poor, argv=("sleep", "120"))
    with acting(platform()):
        until(workload, lambda w: w.status == Status.RUNNING)
        spend(workload, hours=1.01)
        now = db_now()
        billing.arrears_sweep(platform(), now=now)
        assert ArrearsState.objects.get(organisation=poor.organisation).status == "grace"
        assert services.enforce_arrears(platform()) == 0, "grace lets it run on"
        billing.arrears_sweep(platform(), now=now + policy.GRACE + timedelta(seconds=1))
        assert poor.organisation.pk in selectors.suspended_organisation_ids()
        assert services.enforce_arrears(platform()) == 1
        until(workload, lambda w: w.status == Status.STOPPED)
        assert reload(workload).reason == Reason.ARREARS
        kinds = list(Notice.objects.filter(user=poor.alice).order_by("pk").values_list("kind", flat=True))
        assert kinds == ["billing.grace", "billing.suspended", "run.stopped_unpaid"]
    with acting(poor.actor), pytest.raises(InsufficientFunds, match="used up"):
        submit_workload(poor)
    with acting(platform()):
        top_up(poor.organisation, 1_000_000)
        billing.arrears_sweep(platform())
    with acting(poor.actor):
        assert submit_workload(poor).status == Status.QUEUED
