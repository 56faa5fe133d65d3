"""Rights are asked again before each start: what ended since the submission ends what waits, and nobody else's work."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.billing.models import ArrearsState
from apps.common.permissions import Permission as P
from apps.envs.choices import KIND as ENVIRONMENT
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.storage.models import Volume
from apps.tenants import services as tenants
from apps.tenants.choices import Role
from apps.tenants.models import Membership, OrganisationRole, User
from apps.workloads import faults, kinds, start_rights
from apps.workloads.choices import Kind, Reason, Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.timeline import event_title
from tests.architecture import endings
from tests.architecture.endings import Ending
from tests.builders import World, platform, reload
from tests.workloads.rights import ENDINGS, LOST, assert_never_ran, held, holder, mounting, submit
from tests.workloads.rights import admin as admin
from tests.workloads.rights import bob as bob
from tests.workloads.rights import shared as shared


@pytest.mark.parametrize("kind", [rules.name for rules in kinds.every()])
@pytest.mark.parametrize("ends", ENDINGS)
def test_queued_work_does_not_start_once_its_owner_may_not_run_it(
    world: World, admin: User, ends: Ending, kind: Kind
) -> None:
    workload = submit(world, kind=kind)
    ends(holder(world))
    assert run_pass(platform()) == 0
    assert_never_ran(workload)
    assert workload.reason_data == {"lost": LOST[ends.__name__], "ran": False}
    assert not Attempt.objects.exists()
    assert held() == 0


@pytest.mark.parametrize("ends", ENDINGS)
def test_who_may_know_is_told_in_words(world: World, admin: User, ends: Ending) -> None:
    workload, again = submit(world), submit(world)
    ends(holder(world))
    run_pass(platform())
    told = Notice.objects.filter(user=admin, kind="member.work_not_started")
    assert told.count() == 1, "once a day, however much waits"
    assert "Alice" in words(told[0]).title
    assert "%(" not in words(told[0]).text
    mine = Notice.objects.filter(user=world.alice, kind="run.not_started")
    still_there = ends in (endings.role_lost, endings.frozen)
    assert mine.count() == (2 if still_there else 0)
    assert reload(again).status == Status.STOPPED
    shown = faults.card(reload(workload), None)
    assert shown is not None
    assert "Not started" in shown["title"]
    assert shown["text"]
    assert "nothing was charged" in shown["verdict"]
    assert "not started" in event_title(workload.events.order_by("-pk")[0])


def test_work_of_others_is_not_touched(world: World, bob: User) -> None:
    mine, other = submit(world), submit(world, bob)
    endings.removed(holder(world))
    assert run_pass(platform()) == 1
    assert_never_ran(mine)
    assert reload(other).status == Status.PLACED


def test_a_right_that_is_given_back_in_time_lets_it_start(world: World, bob: User) -> None:
    workload = submit(world)
    row = Membership.objects.get(user=world.alice)
    endings.removed(holder(world))
    tenants.add_member(platform(), organisation_id=world.organisation.pk, user=row.user, role=Role.MEMBER)
    assert run_pass(platform()) == 1
    assert reload(workload).status == Status.PLACED


def test_a_role_of_their_own_that_allows_it_is_enough(world: World) -> None:
    workload, environment = submit(world), submit(world, kind=ENVIRONMENT)
    role = OrganisationRole.objects.create(
        organisation=world.organisation, name="trains", permissions=[P.TRAINING_SUBMIT.value]
    )
    Membership.objects.filter(user=world.alice).update(own_role=role)
    assert run_pass(platform()) == 1
    assert reload(workload).status == Status.PLACED
    assert_never_ran(environment)


def test_what_arrears_forbid_is_not_placed(world: World) -> None:
    workload = submit(world)
    ArrearsState.objects.update_or_create(organisation=world.organisation, defaults={"status": "suspended"})
    assert run_pass(platform()) == 0
    assert_never_ran(workload, Reason.ARREARS)


# The cost


def test_asking_costs_the_same_for_one_as_for_many(world: World, shared: Volume, bob: User) -> None:
    def queries(count: int) -> int:
        for turn in range(count):
            submit(world, bob if turn % 2 else None, mounts=mounting(shared))
        waits = list(Workload.objects.filter(status=Status.QUEUED))
        with CaptureQueriesContext(connection) as seen:
            assert start_rights.refusals(waits) == {}
        return len(seen)

    assert queries(1) == queries(6) == 4, "memberships, volumes, their shares, and who is suspended"


def test_a_pass_asks_once_for_all_that_it_places(world: World, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    asked = start_rights.refusals

    def counted(workloads: Any) -> Any:
        found = list(workloads)
        calls.append(len(found))
        return asked(found)

    monkeypatch.setattr(start_rights, "refusals", counted)
    for user in (None, bob, None):
        submit(world, user)
    assert run_pass(platform()) == 3
    assert calls == [3]
