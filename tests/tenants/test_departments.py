"""Departments: a tree without cycles, whose books are right whatever moves."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, DomainError, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas, tree
from apps.tenants.choices import HolderKind, Resource, Role
from apps.tenants.models import Department, Holding, Membership, Organisation, Quota, User
from apps.tenants.quotas import Holder
from apps.tenants.services.departments import (
    create_department,
    delete_department,
    move_department,
    rename_department,
)
from apps.tenants.services.members import Place, change_member
from tests.builders import actor_of, make_member, make_organisation, platform
from tests.searching import examples

GPU: dict[Resource | tuple[Resource, str], int] = {(Resource.GPU_MILLI, "A100"): 1000, Resource.RUNS: 1}


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def admin(organisation: Organisation) -> Actor:
    return actor_of(make_member(organisation, role=Role.ADMIN))


def chain(admin: Actor, *names: str) -> list[Department]:
    """Departments each below the one before."""
    made: list[Department] = []
    for name in names:
        made.append(create_department(admin, name=name, parent_id=made[-1].pk if made else None))
    return made


def reserve(organisation: Organisation, user: User, department: Department | None) -> Holder:
    holder = Holder(HolderKind.WORKLOAD, uuid4())
    quotas.reserve(
        organisation_id=organisation.pk,
        department_id=department.pk if department else None,
        user_id=user.pk,
        amounts=GPU,
        holder=holder,
    )
    return holder


def used(department: Department | None, resource: Resource = Resource.RUNS, model: str = "") -> int:
    rows = Quota.objects.filter(department=department, user=None, resource=resource, model=model)
    return sum(rows.values_list("used", flat=True))


def assert_books_are_right(organisation: Organisation) -> None:
    """Each level holds exactly the sum of the holdings below it."""
    expected: Counter[tuple[UUID | None, int | None, str, str]] = Counter()
    for held in Holding.objects.filter(organisation=organisation):
        for department in [None, *tree.ancestors(held.department_id)]:
            expected[department, None, held.resource, held.model] += held.amount
        expected[None, held.user_id, held.resource, held.model] += held.amount
    rows = Quota.objects.filter(organisation=organisation, used__gt=0)
    assert {(r.department_id, r.user_id, r.resource, r.model): r.used for r in rows} == dict(expected)


def test_a_tree_of_any_depth_has_paths(admin: Actor, organisation: Organisation) -> None:
    departments = chain(admin, *(f"Level {n}" for n in range(12)))
    assert tree.ancestors(departments[-1].pk) == [each.pk for each in reversed(departments)]
    assert tree.paths([departments[2].pk]) == {departments[2].pk: "Level 0 / Level 1 / Level 2"}
    assert set(tree.subtree(departments[9].pk)) == {each.pk for each in departments[9:]}


def test_names_are_unique_at_one_place(admin: Actor, organisation: Organisation) -> None:
    research, vision = chain(admin, "Research", "Vision")
    create_department(admin, name="Vision")
    with pytest.raises(Invalid) as refusal:
        create_department(admin, name=" Vision ", parent_id=research.pk)
    assert "name" in refusal.value.fields
    with pytest.raises(Invalid):
        move_department(admin, department_id=vision.pk, parent_id=None)
    with pytest.raises(Invalid):
        create_department(admin, name="  ")


def test_a_department_cannot_stand_below_itself(admin: Actor, organisation: Organisation) -> None:
    top, _middle, low = chain(admin, "Top", "Middle", "Low")
    for parent in (top, low):
        with pytest.raises(Invalid):
            move_department(admin, department_id=top.pk, parent_id=parent.pk)
    top.refresh_from_db()
    assert top.parent_id is None


def test_only_an_empty_department_is_deleted(admin: Actor, organisation: Organisation) -> None:
    top, low = chain(admin, "Top", "Low")
    bob = make_member(organisation, "bob")
    change_member(admin, user_id=bob.pk, place=Place(department_id=low.pk))
    for full in (top, low):
        with pytest.raises(Conflict):
            delete_department(admin, department_id=full.pk)
    holder = reserve(organisation, bob, low)
    Membership.objects.filter(user=bob).update(department=None)
    with pytest.raises(Conflict, match="counted"):
        delete_department(admin, department_id=low.pk)
    quotas.release_all(organisation_id=organisation.pk, holder=holder)
    delete_department(admin, department_id=low.pk)
    delete_department(admin, department_id=top.pk)
    assert not Department.objects.filter(organisation=organisation).exists()


def test_strangers_and_members_change_nothing(admin: Actor, organisation: Organisation) -> None:
    (top,) = chain(admin, "Top")
    stranger = actor_of(make_member(make_organisation(), "charlie", Role.ADMIN))
    with acting(stranger), pytest.raises(NotFound):
        rename_department(stranger, department_id=top.pk, name="Mine")
    with acting(stranger), pytest.raises(Invalid):
        create_department(stranger, name="Inside", parent_id=top.pk)
    with pytest.raises(Denied):
        create_department(actor_of(make_member(organisation, "bob")), name="Mine")
    rename_department(admin, department_id=top.pk, name="Head office")
    entry = Entry.objects.get(action="department.renamed")
    assert (entry.before, entry.after) == ({"name": "Top"}, {"name": "Head office"})


def test_every_department_above_limits(admin: Actor, organisation: Organisation) -> None:
    top, _middle, low = chain(admin, "Top", "Middle", "Low")
    bob = make_member(organisation, "bob")
    quotas.set_limit(
        admin,
        organisation_id=organisation.pk,
        resource=Resource.GPU_MILLI,
        model="A100",
        limit=1500,
        department_id=top.pk,
    )
    reserve(organisation, bob, low)
    with pytest.raises(QuotaExceeded, match=r"The department Top's quota for GPU cards \(A100\) is short by 0.5"):
        reserve(organisation, bob, low)
    assert (used(top, Resource.GPU_MILLI, "A100"), used(top, Resource.GPU_MILLI)) == (1000, 1000)


def test_another_model_is_not_limited(admin: Actor, organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    one = {"organisation_id": organisation.pk, "resource": Resource.GPU_MILLI, "user_id": bob.pk}
    quotas.set_limit(admin, **one, model="H100", limit=0)  # type: ignore[arg-type]
    reserve(organisation, bob, None)
    quotas.set_limit(admin, **one, limit=1000)  # type: ignore[arg-type]
    with pytest.raises(QuotaExceeded):
        reserve(organisation, bob, None)


def test_what_a_department_holds_moves_with_it(admin: Actor, organisation: Organisation) -> None:
    old, team = chain(admin, "Old", "Team")
    (new,) = chain(admin, "New")
    holder = reserve(organisation, make_member(organisation, "bob"), team)
    move_department(admin, department_id=team.pk, parent_id=new.pk)
    assert (used(old), used(new), used(team), used(None)) == (0, 1, 1, 1)
    quotas.release_all(organisation_id=organisation.pk, holder=holder)
    assert (used(old), used(new), used(team), used(None)) == (0, 0, 0, 0)


def test_what_a_person_holds_moves_with_them(admin: Actor, organisation: Organisation) -> None:
    top, here = chain(admin, "Top", "Here")
    there = create_department(admin, name="There", parent_id=top.pk)
    bob = make_member(organisation, "bob")
    change_member(admin, user_id=bob.pk, place=Place(department_id=here.pk))
    reserve(organisation, bob, here)
    change_member(admin, user_id=bob.pk, place=Place(department_id=there.pk))
    assert (used(here), used(there), used(top)) == (0, 1, 1)
    change_member(admin, user_id=bob.pk, place=Place())
    assert (used(there), used(top), used(None)) == (0, 0, 1)
    assert_books_are_right(organisation)


def test_a_holder_gives_back_part_and_never_more_than_it_has(admin: Actor, organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    place = {"organisation_id": organisation.pk, "department_id": None, "user_id": bob.pk}
    volume = Holder(HolderKind.VOLUME, uuid4())
    for _again in range(2):
        quotas.reserve(**place, amounts={Resource.STORAGE_MIB: 100}, holder=volume)  # type: ignore[arg-type]
    quotas.release(**place, amounts={Resource.STORAGE_MIB: 50}, holder=volume)  # type: ignore[arg-type]
    assert used(None, Resource.STORAGE_MIB) == 150
    quotas.release(**place, amounts={Resource.STORAGE_MIB: 500}, holder=volume)  # type: ignore[arg-type]
    quotas.release_all(organisation_id=organisation.pk, holder=volume)
    assert used(None, Resource.STORAGE_MIB) == 0
    assert not Holding.objects.filter(organisation=organisation).exists()


STEPS = st.lists(
    st.tuples(st.sampled_from(["reserve", "release", "move", "person"]), st.integers(0, 9), st.integers(0, 9)),
    max_size=25,
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_books_are_right_after_any_order_of_events(
    admin: Actor, organisation: Organisation, people: list[User], steps: list[tuple[str, int, int]]
) -> None:
    with transaction.atomic():
        departments = [*chain(admin, "A", "B", "C"), *chain(admin, "D", "E")]
        limited = {"organisation_id": organisation.pk, "resource": Resource.RUNS, "department_id": departments[0].pk}
        quotas.set_limit(admin, **limited, limit=4)  # type: ignore[arg-type]
        held: list[Holder] = []
        for act, one, two in steps:
            department, user = departments[one % 5], people[two % 2]
            try:
                if act == "reserve":
                    own = Membership.objects.get(user=user, organisation=organisation).department
                    held.append(reserve(organisation, user, own))
                elif act == "release" and held:
                    quotas.release_all(organisation_id=organisation.pk, holder=held.pop(one % len(held)))
                elif act == "move":
                    parent = ([*departments, None])[two % 6]
                    move_department(admin, department_id=department.pk, parent_id=parent.pk if parent else None)
                elif act == "person":
                    change_member(admin, user_id=user.pk, place=Place(department_id=department.pk))
            except DomainError:
                pass
            assert_books_are_right(organisation)
        for holder in held:
            quotas.release_all(organisation_id=organisation.pk, holder=holder)
        assert Quota.objects.aggregate(total=Sum("used"))["total"] in (0, None)
        transaction.set_rollback(True)


@pytest.fixture
def people(organisation: Organisation) -> list[User]:
    return [make_member(organisation, name) for name in ("bob", "carol")]


@pytest.mark.django_db(transaction=True)
def test_fifty_submissions_among_moving_departments_overshoot_nothing() -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=0)
        admin = actor_of(make_member(organisation, role=Role.ADMIN))
        top, _here, team = chain(admin, "Top", "Here", "Team")
        there = create_department(admin, name="There", parent_id=top.pk)
        bob = make_member(organisation, "bob")
        change_member(admin, user_id=bob.pk, place=Place(department_id=team.pk))
        for level, limit in ((top, 9), (team, 12)):
            quotas.set_limit(
                admin, organisation_id=organisation.pk, resource=Resource.RUNS, limit=limit, department_id=level.pk
            )
    _race(organisation, admin, bob, team, (there, _here))
    with acting(platform()):
        assert used(top) == 9
        assert_books_are_right(organisation)


def _race(
    organisation: Organisation, admin: Actor, bob: User, team: Department, places: tuple[Department, Department]
) -> None:
    """50 submissions and 4 moves at once; exactly nine of them fit."""
    start = Barrier(54)

    def submit(_number: int) -> bool:
        try:
            start.wait(timeout=60)
            with acting(platform()), transaction.atomic():
                reserve(organisation, bob, team)
            return True
        except QuotaExceeded:
            return False
        finally:
            connection.close()

    def move(number: int) -> bool:
        try:
            start.wait(timeout=60)
            with acting(admin):
                move_department(admin, department_id=team.pk, parent_id=places[number % 2].pk)
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(54) as pool:
        moves = [pool.submit(move, number) for number in range(4)]
        accepted = [each.result() for each in [pool.submit(submit, number) for number in range(50)]]
        assert not any(each.result() for each in moves)
    assert sum(accepted) == 9
