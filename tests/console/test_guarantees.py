"""Guarantees: set by the platform's staff on a page or by API, logged, and heard of by the scheduler."""

from collections.abc import Iterator

import pytest
from django.test import Client

import scheduler
from apps.audit.models import Entry
from apps.clusters.models import Accelerator, LogicalCluster, Node, Zone
from apps.common.clock import db_now
from apps.common.errors import Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import OrganisationStatus, PlatformRole, Resource, Role
from apps.tenants.models import Guarantee, Membership, Quota
from apps.tenants.services.departments import create_department
from apps.tenants.services.guarantees import Promise, set_department_weight, set_guarantees
from apps.tenants.services.members import Place, change_member
from apps.tenants.services.organisations import set_organisation_status
from apps.workloads.reconcile.queues import queues
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_node,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
    unknown_id,
)

H100 = Promise("H100")


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        cards = {"vendor": "nvidia", "model": "H100", "memory_mib": 81920}
        for index in range(4):
            Accelerator.objects.create(node=world.node, uuid=f"GPU-{index}", index=index, **cards)
        yield world


@pytest.fixture
def staff(world: World) -> Client:
    return signed_in(make_staff(PlatformRole.BUSINESS))


def api(world: World) -> str:
    return f"/api/v1/console/organisations/{world.organisation.pk}/guarantees/"


def page(world: World, name: str) -> str:
    return f"/console/organisations/{world.organisation.pk}/{name}/"


def organisation_queue(world: World, *, simulated: bool = False) -> scheduler.Queue:
    found = {queue.id: queue for queue in queues(db_now(), simulated=simulated)}
    return found[str(world.organisation.pk)]


def test_the_page_sets_guarantees_in_cards(world: World, staff: Client) -> None:
    assert "Guaranteed cards" in staff.get(page(world, "terms")).content.decode()
    name = next(key for key in form_names(staff, world) if key.startswith("real-"))
    answer = staff.post(page(world, "guarantees"), {"real": "", name: "2.5"}, follow=True)
    assert "The guarantees of" in answer.content.decode()
    assert organisation_queue(world).guarantee.gpu_milli == {"H100": 2500}
    assert staff.post(page(world, "guarantees"), {"real": "3", name: ""}, follow=True).status_code == 200
    assert organisation_queue(world).guarantee.gpu_milli == {scheduler.ANY_MODEL: 3000}


def form_names(staff: Client, world: World) -> list[str]:
    return list(staff.get(page(world, "terms")).context["guaranteed"].fields)


def test_nonsense_is_refused_on_the_page_and_nothing_changes(world: World, staff: Client) -> None:
    answer = staff.post(page(world, "guarantees"), {"real": "-1"})
    assert answer.status_code == 422
    assert not Guarantee.objects.exists()


def test_promising_more_than_there_is_is_warned_of(world: World, staff: Client) -> None:
    set_guarantees(platform(), organisation_id=world.organisation.pk, milli={H100: 3000})
    assert "More is guaranteed than there is" not in staff.get(page(world, "terms")).content.decode()
    set_guarantees(platform(), organisation_id=make_organisation().pk, milli={H100: 2000})
    assert "More is guaranteed than there is" in staff.get(page(world, "terms")).content.decode()
    lines = {line["gpu_model"]: line for line in staff.get(api(world)).json()}
    assert lines["H100"] == {
        "gpu_model": "H100",
        "simulated": False,
        "gpu_milli": 3000,
        "existing_milli": 4000,
        "everybody_milli": 5000,
        "overbooked": True,
        "zones": [],
    }
    assert lines[""]["overbooked"], "cards of a certain model are cards of any model too"


def test_a_zone_that_could_not_keep_all_promises_by_itself_is_named(world: World, staff: Client) -> None:
    far = LogicalCluster.objects.create(zone=Zone.objects.create(name="far"), name="far")
    node = make_node()
    Node.objects.filter(pk=node.pk).update(cluster=far)
    for index in range(2):
        Accelerator.objects.create(
            node=node, uuid=f"far-{index}", index=index, vendor="nvidia", model="H100", memory_mib=81920
        )
    set_guarantees(platform(), organisation_id=world.organisation.pk, milli={H100: 3000})
    lines = {line["gpu_model"]: line for line in staff.get(api(world)).json()}
    zones = [(zone["name"], zone["existing_milli"], zone["missing_milli"]) for zone in lines["H100"]["zones"]]
    assert zones == [("far", 2000, 1000), ("local", 4000, 0)]
    page_text = staff.get(page(world, "terms")).content.decode()
    assert "Zone far has 2 of them: if everybody asked for theirs there, 1 would be missing." in page_text
    assert "Zone local has" not in page_text


def test_the_api_sets_what_is_named_and_leaves_the_rest(world: World, staff: Client) -> None:
    rows = [{"gpu_model": "H100", "gpu_milli": 1000}, {"gpu_milli": 2000}]
    assert staff.put(api(world), rows, content_type="application/json").status_code == 200
    staff.put(api(world), [{"gpu_model": "H100", "gpu_milli": 0}], content_type="application/json")
    assert dict(Guarantee.objects.values_list("gpu_model", "gpu_milli")) == {"": 2000}
    refused = staff.put(api(world), [{"gpu_milli": -5}], content_type="application/json")
    assert refused.status_code == 400


def test_only_staff_who_manage_tenants_may(world: World) -> None:
    viewer = signed_in(make_staff(PlatformRole.OPS))
    assert viewer.put(api(world), [], content_type="application/json").status_code == 403
    assert viewer.post(page(world, "guarantees"), {}).status_code == 403
    with pytest.raises(Denied):
        set_guarantees(world.actor, organisation_id=world.organisation.pk, milli={H100: 1000})
    with pytest.raises(NotFound):
        set_guarantees(platform(), organisation_id=unknown_id(), milli={H100: 1000})
    with pytest.raises(Invalid):
        set_guarantees(platform(), organisation_id=world.organisation.pk, milli={H100: -1})


def test_a_change_is_logged_with_before_and_after_and_the_same_again_is_not(world: World) -> None:
    staff = staff_actor(make_staff(PlatformRole.BUSINESS))
    for milli in (1000, 2000, 2000):
        set_guarantees(staff, organisation_id=world.organisation.pk, milli={H100: milli})
    entries = Entry.objects.filter(action="organisation.guarantee").order_by("pk")
    assert [(e.before["gpu_milli"], e.after["gpu_milli"]) for e in entries] == [(0, 1000), (1000, 2000)]


def test_real_and_simulated_guarantees_are_apart(world: World) -> None:
    Zone.objects.create(name="made up", simulated=True)
    milli = {Promise("H100", simulated=True): 7000, H100: 1000}
    set_guarantees(platform(), organisation_id=world.organisation.pk, milli=milli)
    assert organisation_queue(world).guarantee.gpu_milli == {"H100": 1000}
    assert organisation_queue(world, simulated=True).guarantee.gpu_milli == {"H100": 7000}


def test_nobody_gives_way_for_a_frozen_organisation(world: World) -> None:
    set_guarantees(platform(), organisation_id=world.organisation.pk, milli={H100: 1000})
    set_organisation_status(platform(), organisation_id=world.organisation.pk, status=OrganisationStatus.FROZEN)
    assert organisation_queue(world).guarantee == scheduler.Amount()


def test_departments_and_people_share_by_weight(world: World) -> None:
    vision = create_department(world.actor, name="Vision")
    bob = make_member(world.organisation, "bob")
    set_department_weight(world.actor, department_id=vision.pk, weight=5)
    change_member(world.actor, user_id=bob.pk, place=Place(weight=3))
    found = {(queue.level, queue.id): queue.weight for queue in queues(db_now(), simulated=False)}
    assert found[scheduler.QueueLevel.DEPARTMENT, str(vision.pk)] == 5
    assert found[scheduler.QueueLevel.USER, str(bob.pk)] == 3
    charlie = make_member(make_organisation(), "charlie", Role.ADMIN)
    stranger = actor_of(charlie, Membership.objects.get(user=charlie).organisation)
    with acting(stranger), pytest.raises(NotFound):
        set_department_weight(stranger, department_id=vision.pk, weight=9)
    with pytest.raises(Invalid):
        change_member(world.actor, user_id=bob.pk, place=Place(weight=101))


def test_an_administrator_weighs_departments_and_people_on_their_pages(world: World) -> None:
    vision, bob = create_department(world.actor, name="Vision"), make_member(world.organisation, "bob")
    alice = signed_in(world.alice)
    edit = alice.post(f"/organisation/departments/{vision.pk}/edit/", {"name": "Vision", "weight": "7"})
    place = {"role": "member", "own_role": "", "department": "", "priority": "3", "weight": "9"}
    member = alice.post(f"/organisation/members/{bob.pk}/", place)
    assert (edit.status_code, member.status_code) == (302, 302)
    vision.refresh_from_db()
    assert vision.weight == 7
    assert Membership.objects.get(user=bob).weight == 9
    changed = {"priority": 4}
    alice.patch(f"/api/v1/organisation/members/{bob.pk}/", changed, content_type="application/json")
    assert Membership.objects.get(user=bob).weight == 9, "what is left out stays"


def test_a_limit_is_heard_of_only_where_more_is_reserved_than_it_allows(world: World) -> None:
    key = {"organisation": world.organisation, "resource": Resource.GPU_MILLI, "model": "H100"}
    Quota.objects.create(**key, limit=4000, used=4000)
    assert organisation_queue(world).limit == scheduler.Amount()
    Quota.objects.filter(**key).update(limit=3000)
    assert organisation_queue(world).limit == scheduler.Amount(gpu_milli={"H100": 3000})
