"""Quota: refused in words, at every level, and never overshot however many submit at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction

from apps.audit.models import Entry
from apps.common.errors import Conflict, Denied, Invalid, NotFound, QuotaExceeded
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Department, Organisation, Quota
from apps.tenants.selectors import own_limits
from apps.tenants.services.members import Place, change_member
from apps.tenants.services.roles import create_role
from tests.builders import actor_of, make_member, make_organisation, platform

PARALLEL = 50
ONE_RUN = {Resource.RUNS: 1, Resource.CPU_MILLI: 1000}


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


def limit(organisation: Organisation, resource: Resource, amount: int | None, **level: object) -> None:
    quotas.set_limit(
        platform(),
        organisation_id=organisation.pk,
        resource=resource,
        limit=amount,
        **level,  # type: ignore[arg-type]
    )


def reserve(organisation: Organisation, user_id: int, department: Department | None = None) -> None:
    quotas.reserve(
        organisation_id=organisation.pk,
        department_id=department.pk if department else None,
        user_id=user_id,
        amounts=ONE_RUN,
    )


def used(organisation: Organisation, resource: Resource, **level: object) -> int:
    whole: dict[str, object] = {"department_id": None, "user_id": None}
    return Quota.objects.get(organisation=organisation, resource=resource, **{**whole, **level}).used


def test_without_a_limit_use_is_counted_all_the_same(organisation: Organisation) -> None:
    user = make_member(organisation)
    reserve(organisation, user.pk)
    assert used(organisation, Resource.CPU_MILLI) == used(organisation, Resource.CPU_MILLI, user_id=user.pk) == 1000


def test_a_refusal_names_the_deficit_and_takes_nothing(organisation: Organisation) -> None:
    user = make_member(organisation)
    limit(organisation, Resource.CPU_MILLI, 1500)
    reserve(organisation, user.pk)
    with pytest.raises(QuotaExceeded) as refusal:
        reserve(organisation, user.pk)
    assert "0.5" in str(refusal.value)
    assert used(organisation, Resource.CPU_MILLI) == 1000
    assert used(organisation, Resource.RUNS) == 1


@pytest.mark.parametrize("level", ["user", "department", "organisation"])
def test_each_level_limits(organisation: Organisation, level: str) -> None:
    user = make_member(organisation)
    department = Department.objects.create(organisation=organisation, name="Vision")
    levels: dict[str, dict[str, object]] = {
        "user": {"user_id": user.pk},
        "department": {"department_id": department.pk},
        "organisation": {},
    }
    limit(organisation, Resource.RUNS, 1, **levels[level])
    reserve(organisation, user.pk, department)
    with pytest.raises(QuotaExceeded):
        reserve(organisation, user.pk, department)


def test_what_is_released_can_be_taken_again(organisation: Organisation) -> None:
    user = make_member(organisation)
    limit(organisation, Resource.RUNS, 1)
    for _again in range(3):
        reserve(organisation, user.pk)
        quotas.release(organisation_id=organisation.pk, department_id=None, user_id=user.pk, amounts=ONE_RUN)
    assert used(organisation, Resource.RUNS) == 0


def test_looking_at_the_shortfall_takes_nothing(organisation: Organisation) -> None:
    user = make_member(organisation)
    limit(organisation, Resource.RUNS, 0)
    asked = {"organisation_id": organisation.pk, "department_id": None, "user_id": user.pk}
    assert quotas.shortfall(**asked, amounts=ONE_RUN) is not None  # type: ignore[arg-type]
    assert used(organisation, Resource.RUNS) == 0


def test_a_lower_limit_ends_nothing_and_is_written_down(organisation: Organisation) -> None:
    user = make_member(organisation)
    limit(organisation, Resource.RUNS, 5)
    reserve(organisation, user.pk)
    limit(organisation, Resource.RUNS, 0)
    assert used(organisation, Resource.RUNS) == 1
    entry = Entry.objects.filter(action="quota.limited").order_by("-pk").first()
    assert entry is not None
    assert (entry.before, entry.after) == ({"limit": 5}, {"limit": 0})


def test_a_negative_limit_is_refused(organisation: Organisation) -> None:
    with pytest.raises(Invalid):
        limit(organisation, Resource.RUNS, -1)


def test_an_admin_divides_but_does_not_raise_the_whole(organisation: Organisation) -> None:
    admin = actor_of(make_member(organisation, role=Role.ADMIN))
    colleague = make_member(organisation)
    one = {"organisation_id": organisation.pk, "resource": Resource.RUNS, "limit": 2}
    quotas.set_limit(admin, **one, user_id=colleague.pk)  # type: ignore[arg-type]
    with pytest.raises(Denied) as refusal:
        quotas.set_limit(admin, **one)  # type: ignore[arg-type]
    assert refusal.value.permission == Permission.PLATFORM_TENANTS_MANAGE
    with pytest.raises(NotFound):
        quotas.set_limit(admin, **{**one, "organisation_id": make_organisation().pk}, user_id=colleague.pk)  # type: ignore[arg-type]
    with pytest.raises(Denied):
        quotas.set_limit(actor_of(colleague), **one, user_id=colleague.pk)  # type: ignore[arg-type]


def test_who_manages_quotas_does_not_raise_their_own(organisation: Organisation) -> None:
    admin = actor_of(make_member(organisation, role=Role.ADMIN))
    role = create_role(admin, name="Quotas", permissions=["quotas.view", "quotas.manage"])
    carol, bob = make_member(organisation, "carol"), make_member(organisation, "bob")
    change_member(admin, user_id=carol.pk, place=Place(role=Role.FINANCE, own_role_id=role.pk))
    one = {"organisation_id": organisation.pk, "resource": Resource.RUNS, "limit": 9}
    quotas.set_limit(actor_of(carol), **one, user_id=bob.pk)  # type: ignore[arg-type]
    with pytest.raises(Conflict):
        quotas.set_limit(actor_of(carol), **one, user_id=carol.pk)  # type: ignore[arg-type]
    quotas.set_limit(admin, **one, user_id=admin.person())  # type: ignore[arg-type]


def test_the_tightest_level_is_what_a_person_is_shown(organisation: Organisation) -> None:
    user = make_member(organisation)
    limit(organisation, Resource.RUNS, 10)
    limit(organisation, Resource.RUNS, 2, user_id=user.pk)
    reserve(organisation, user.pk)
    shown = {each.resource: each for each in own_limits(actor_of(user))}
    assert (shown[Resource.RUNS].used, shown[Resource.RUNS].limit, shown[Resource.RUNS].whose) == (1, 2, "user")
    assert shown[Resource.CPU_MILLI].limit is None


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_take_exactly_what_the_limit_leaves() -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=0)
        people = [make_member(organisation) for _each in range(5)]
        limit(organisation, Resource.RUNS, 7)
        limit(organisation, Resource.RUNS, 2, user_id=people[0].pk)
    start = Barrier(PARALLEL)

    def submit(number: int) -> bool:
        try:
            start.wait(timeout=60)
            with acting(platform()), transaction.atomic():
                reserve(organisation, people[number % len(people)].pk)
            return True
        except QuotaExceeded:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(PARALLEL) as pool:
        accepted = list(pool.map(submit, range(PARALLEL)))
    with acting(platform()):
        assert sum(accepted) == used(organisation, Resource.RUNS) == 7
        assert used(organisation, Resource.CPU_MILLI) == 7000
        # A person of whom nothing was accepted has no row: the refusal took it back.
        rows = Quota.objects.filter(organisation=organisation, resource=Resource.RUNS, user__isnull=False)
        by_person = dict(rows.values_list("user_id", "used"))
        assert sum(by_person.values()) == 7
        assert by_person.get(people[0].pk, 0) <= 2
