"""Kinds of workloads: each asks for its own permissions and counts against its own quota."""

from dataclasses import replace

import pytest

from apps.common.errors import Denied, NotFound
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Quota
from apps.training.choices import KIND as TRAINING
from apps.workloads import kinds, permissions, selectors, services
from apps.workloads.choices import BY_RULE, Kind, Reason, Status
from apps.workloads.faults import why_stopped
from apps.workloads.models import Event, Workload
from apps.workloads.timeline import event_title
from tests.builders import World, actor_of, make_member, make_staff, platform, staff_actor, submit_workload


def submit(world: World, kind: Kind) -> Workload:
    with acting(world.actor):
        return submit_workload(world, kind=kind)


def used(resource: Resource) -> set[int]:
    return set(Quota.objects.filter(resource=resource, used__gt=0).values_list("used", flat=True))


def test_an_environment_counts_as_one_and_gives_it_back(world: World) -> None:
    workload = submit(world, ENVIRONMENT)
    assert used(Resource.ENVIRONMENTS) == {1}
    assert used(Resource.RUNS) == set()
    with acting(world.actor):
        services.stop(world.actor, workload, Reason.CHANGED)
    assert used(Resource.ENVIRONMENTS) == set()
    assert (workload.status, workload.reason) == (Status.STOPPED, Reason.CHANGED)


@pytest.mark.parametrize("kind", [rules.name for rules in kinds.every()])
def test_each_kind_asks_for_its_own_permission(world: World, kind: Kind) -> None:
    # A board has the rights of the runs that it shows.
    other = next(rules.name for rules in kinds.every() if rules.rights != kinds.named(kind).rights)
    allowed = frozenset({kinds.named(kind).rights.use, kinds.named(kind).rights.view, P.BILLING_VIEW_OWN})
    actor = replace(world.actor, permissions=allowed)
    with acting(actor):
        mine = submit_workload(world, actor=actor, kind=kind)
        with pytest.raises(Denied):
            submit_workload(world, actor=actor, kind=other)
        assert list(selectors.visible(actor)) == [mine]
        with pytest.raises(Denied):
            selectors.visible(actor, other)
        services.stop(actor, mine)


def test_who_manages_runs_does_not_thereby_manage_environments(world: World) -> None:
    run, environment = submit(world, TRAINING), submit(world, ENVIRONMENT)
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    bob = replace(bob, permissions=bob.permissions | {P.TRAINING_MANAGE_ALL})
    with acting(bob):
        assert list(selectors.visible(bob)) == [run]
        services.stop(bob, run)
        with pytest.raises(NotFound):
            services.stop(bob, environment)


def test_staff_and_admins_rule_environments_but_do_not_look_inside(world: World) -> None:
    workload = submit(world, ENVIRONMENT)
    admin = actor_of(make_member(world.organisation, "carol", Role.ADMIN), world.organisation)
    for person in (staff_actor(make_staff()), admin):
        permissions.may_change(person, workload)
        with pytest.raises(NotFound):
            permissions.may_enter(person, workload)
    permissions.may_enter(world.actor, workload)
    permissions.may_enter(platform(), workload)


def test_who_manages_runs_may_look_inside_them(world: World) -> None:
    admin = actor_of(make_member(world.organisation, "carol", Role.ADMIN), world.organisation)
    permissions.may_enter(admin, submit(world, TRAINING))


def test_nobody_without_any_view_sees_a_list(world: World) -> None:
    with acting(world.actor), pytest.raises(Denied):
        selectors.visible(replace(world.actor, permissions=frozenset()))


@pytest.mark.parametrize("reason", sorted(BY_RULE))
def test_what_a_rule_stopped_is_not_said_to_be_somebodys_wish(world: World, reason: Reason) -> None:
    workload = submit(world, ENVIRONMENT)
    with acting(world.actor):
        services.stop(world.actor, workload, reason)
    event = Event.objects.filter(workload=workload).latest("pk")
    assert event_title(event) == why_stopped(reason, "")
    assert world.actor.label not in event_title(event)
