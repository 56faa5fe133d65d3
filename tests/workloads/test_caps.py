"""A run at its spending cap: its program is told in time, saves what it has, and the run ends with its own reason."""

from datetime import timedelta

import pytest

from apps.audit.models import Entry
from apps.billing import policy
from apps.billing.models import SpendingCap
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants.choices import Role
from apps.workloads import faults, saving, services
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Attempt, Workload
from tests.builders import World, actor_of, make_member, make_world, platform, reload, submit_workload
from tests.workloads.loops import printed, until

# Ends half a second after it was asked to, having written what it had; the code says that it was not done.
SAVES = ("sh", "-c", "trap 'sleep 0.5; echo saved; exit 3' TERM; echo go; while true; do sleep 0.1; done")
CAP = 100


@pytest.fixture
def capped(db: None) -> tuple[World, Workload]:
    """A run of ¥3.60 an hour that may cost ¥1."""
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
    with acting(world.actor):
        workload = submit_workload(world, argv=SAVES)
        services.set_cap(world.actor, workload, CAP)
    return world, workload


@pytest.mark.programs
def test_it_saves_and_stops_before_the_cap(capped: tuple[World, Workload], monkeypatch: pytest.MonkeyPatch) -> None:
    """The cap is a quarter of an hour away; it is asked an hour ahead here, so that nobody has to wait."""
    world, workload = capped
    with acting(platform()) as actor:
        until(workload, lambda w: w.status == Status.RUNNING)
        printed(workload, b"go")
        assert services.enforce_caps(actor) == 0
        monkeypatch.setattr(policy, "CAP_AHEAD", timedelta(hours=1))
        SpendingCap.objects.update(look_at=db_now())
        assert (services.enforce_caps(actor), services.enforce_caps(actor)) == (1, 0)
        asked = Attempt.objects.get(workload=workload).stop_asked_at
        assert 20 <= saving.grace_s(reload(workload), asked, 20) <= 20 * 60
        until(workload, lambda w: w.status == Status.STOPPED)
        attempt = Attempt.objects.get(workload=workload)
        assert (workload.reason, workload.stop_by, attempt.exit_code) == (Reason.CAP, None, 3)
        notice = Notice.objects.get(user=world.alice, kind="run.cap_reached")
        assert "reaches its spending cap" in words(notice).title
        card = faults.card(workload, attempt)
        assert card is not None
        assert card["title"] == "Stopped: its spending cap was reached"


def test_what_waits_is_left_alone_and_what_ended_is_forgotten(capped: tuple[World, Workload]) -> None:
    world, workload = capped
    with acting(platform()) as actor:
        assert services.enforce_caps(actor) == 0
        assert reload(workload).status == Status.QUEUED
    with acting(world.actor):
        services.stop(world.actor, workload)
        with pytest.raises(Conflict):
            services.set_cap(world.actor, reload(workload), 500)


def test_only_who_may_change_the_run_changes_its_cap(capped: tuple[World, Workload]) -> None:
    world, workload = capped
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob), pytest.raises(NotFound):
        services.set_cap(bob, workload, None)
    with acting(world.actor):
        with pytest.raises(Invalid, match="At least"):
            services.set_cap(world.actor, workload, 59)
        services.set_cap(world.actor, workload, 60)
        services.set_cap(world.actor, workload, None)
    with acting(platform()):
        assert not SpendingCap.objects.exists()
        assert Entry.objects.filter(action="billing.cap").count() == 3
