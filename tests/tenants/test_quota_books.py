"""Whose books change, and whose do not, when something is taken, given back or moved."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.tenants.models import Department, Holding, Organisation, Quota, User
from apps.tenants.quotas import Amounts, Holder
from apps.tenants.services.members import add_member
from tests.builders import make_member, make_organisation, platform

A100: Amounts = {(Resource.GPU_MILLI, "A100"): 1000}


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def bob(organisation: Organisation) -> User:
    return make_member(organisation, "bob")


def holder(kind: HolderKind = HolderKind.WORKLOAD) -> Holder:
    return Holder(kind, uuid4())


def place(organisation: Organisation, user: User, department: Department | None = None) -> dict[str, Any]:
    return {
        "organisation_id": organisation.pk,
        "department_id": department.pk if department else None,
        "user_id": user.pk,
    }


def books(organisation: Organisation) -> dict[tuple[UUID | int | None, str, str], int]:
    """What each department, person and the whole (None) has in use, by resource and model; without the empty."""
    rows = Quota.objects.filter(organisation=organisation).exclude(used=0)
    return {(row.department_id or row.user_id, row.resource, row.model): row.used for row in rows}


def held(one: Holder) -> dict[tuple[str, str], int]:
    rows = Holding.objects.filter(holder_kind=one.kind, holder_id=one.id)
    return {(row.resource, row.model): row.amount for row in rows}


def test_what_was_taken_without_a_holder_comes_off_every_level(organisation: Organisation, bob: User) -> None:
    vision = Department.objects.create(organisation=organisation, name="Vision")
    quotas.reserve(**place(organisation, bob, vision), amounts=A100)
    assert {key[0] for key in books(organisation)} == {None, vision.pk, bob.pk}
    quotas.release(**place(organisation, bob, vision), amounts=A100)
    assert books(organisation) == {}


def test_what_was_taken_before_holdings_were_kept_comes_off_the_books_of_all_models(
    organisation: Organisation, bob: User
) -> None:
    quotas.reserve(**place(organisation, bob), amounts={Resource.GPU_MILLI: 1000, Resource.RUNS: 1})
    quotas.release(**place(organisation, bob), amounts={**A100, Resource.RUNS: 1}, holder=holder())
    assert books(organisation) == {}


def test_amounts_of_several_models_add_up_to_that_of_all(organisation: Organisation, bob: User) -> None:
    quotas.reserve(**place(organisation, bob), amounts={**A100, (Resource.GPU_MILLI, "H100"): 500})
    whole = {(resource, model): used for (who, resource, model), used in books(organisation).items() if who is None}
    assert whole == {("gpu_milli", "A100"): 1000, ("gpu_milli", "H100"): 500, ("gpu_milli", ""): 1500}


def test_the_books_of_another_organisation_stay_as_they_are(organisation: Organisation, bob: User) -> None:
    other = make_organisation(balance_fen=0)
    quotas.reserve(**place(other, make_member(other)), amounts=A100)
    before = books(other)
    quotas.reserve(**place(organisation, bob), amounts=A100)
    assert books(other) == before
    quotas.release(**place(organisation, bob), amounts=A100)
    assert books(other) == before


def test_what_another_organisation_holds_is_not_given_back(organisation: Organisation, bob: User) -> None:
    other, mine = make_organisation(balance_fen=0), holder()
    quotas.reserve(**place(organisation, bob), amounts=A100, holder=mine)
    before = books(organisation)
    quotas.release_all(organisation_id=other.pk, holder=mine)
    assert (books(organisation), held(mine)) == (before, {("gpu_milli", "A100"): 1000, ("gpu_milli", ""): 1000})


def test_an_organisation_whose_books_are_locked_can_still_be_referred_to(organisation: Organisation) -> None:
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        quotas.lock(organisation.pk)
    assert queries.captured_queries[-1]["sql"].endswith("FOR NO KEY UPDATE")


def test_a_holder_of_one_amount_gives_it_all_back(organisation: Organisation, bob: User) -> None:
    volume = holder(HolderKind.VOLUME)
    quotas.reserve(**place(organisation, bob), amounts={Resource.STORAGE_MIB: 100}, holder=volume)
    quotas.release_all(organisation_id=organisation.pk, holder=volume)
    assert books(organisation) == {}


def test_a_holder_that_takes_more_keeps_what_it_has(organisation: Organisation, bob: User) -> None:
    volume = holder(HolderKind.VOLUME)
    quotas.reserve(**place(organisation, bob), amounts={Resource.VOLUMES: 1}, holder=volume)
    quotas.reserve(**place(organisation, bob), amounts={Resource.STORAGE_MIB: 100}, holder=volume)
    quotas.reserve(**place(organisation, bob), amounts={Resource.STORAGE_MIB: 50}, holder=volume)
    assert held(volume) == {("volumes", ""): 1, ("storage_mib", ""): 150}


def test_a_model_and_all_models_together_are_counted_apart(organisation: Organisation, bob: User) -> None:
    workload = holder()
    quotas.reserve(**place(organisation, bob), amounts={Resource.GPU_MILLI: 500}, holder=workload)
    for _again in range(2):
        quotas.reserve(**place(organisation, bob), amounts=A100, holder=workload)
    assert held(workload) == {("gpu_milli", ""): 2500, ("gpu_milli", "A100"): 2000}


def test_a_holder_gives_back_only_what_is_named(organisation: Organisation, bob: User) -> None:
    volume = holder(HolderKind.VOLUME)
    both = {Resource.VOLUMES: 1, Resource.STORAGE_MIB: 100}
    quotas.reserve(**place(organisation, bob), amounts=both, holder=volume)
    quotas.release(**place(organisation, bob), amounts={Resource.STORAGE_MIB: 40}, holder=volume)
    assert held(volume) == {("volumes", ""): 1, ("storage_mib", ""): 60}
    assert books(organisation)[bob.pk, "volumes", ""] == 1


def test_what_one_holder_takes_is_not_added_to_anothers(organisation: Organisation, bob: User) -> None:
    """Neither to a volume of another id nor to a data set that happens to have the same."""
    ours, others = holder(HolderKind.VOLUME), holder(HolderKind.VOLUME)
    namesake = Holder(HolderKind.DATASET, ours.id)
    for each in (ours, others, namesake, ours):
        quotas.reserve(**place(organisation, bob), amounts={Resource.STORAGE_MIB: 100}, holder=each)
    assert [held(each)["storage_mib", ""] for each in (ours, others, namesake)] == [200, 100, 100]
    for each in (namesake, others):
        quotas.release_all(organisation_id=organisation.pk, holder=each)
    assert held(ours) == {("storage_mib", ""): 200}


def test_only_what_a_person_holds_in_this_organisation_moves_with_them(organisation: Organisation, bob: User) -> None:
    carol, elsewhere = make_member(organisation, "carol"), make_organisation(balance_fen=0)
    add_member(platform(), organisation_id=elsewhere.pk, user=bob)
    here, there = (Department.objects.create(organisation=organisation, name=name) for name in ("Here", "There"))
    theirs = Department.objects.create(organisation=elsewhere, name="Here")
    quotas.reserve(**place(organisation, bob, here), amounts={Resource.RUNS: 1}, holder=holder())
    quotas.reserve(**place(organisation, carol, here), amounts={Resource.RUNS: 2}, holder=holder())
    quotas.reserve(**place(elsewhere, bob, theirs), amounts={Resource.RUNS: 4}, holder=holder())
    quotas.move_person(organisation_id=organisation.pk, user_id=bob.pk, department_id=there.pk)
    found = books(organisation)
    assert (found[here.pk, "runs", ""], found[there.pk, "runs", ""]) == (2, 1)
    assert books(elsewhere)[theirs.pk, "runs", ""] == 4
    by_department = Holding.objects.values_list("amount", "department_id")
    assert set(by_department) == {(1, there.pk), (2, here.pk), (4, theirs.pk)}


def test_only_what_a_department_holds_moves_with_it(organisation: Organisation, bob: User) -> None:
    carol = make_member(organisation, "carol")
    old, new = (Department.objects.create(organisation=organisation, name=name) for name in ("Old", "New"))
    team = Department.objects.create(organisation=organisation, name="Team", parent=old)
    for user, department, runs in ((bob, team, 1), (carol, team, 2), (bob, old, 4), (carol, None, 8)):
        quotas.reserve(**place(organisation, user, department), amounts={Resource.RUNS: runs}, holder=holder())
    quotas.reserve(**place(organisation, bob), amounts={Resource.VOLUMES: 1}, holder=holder(HolderKind.VOLUME))
    with transaction.atomic():
        quotas.lock(organisation.pk)
        quotas.move_department(organisation_id=organisation.pk, department_id=team.pk, parent_id=new.pk)
    volumes = Quota.objects.filter(organisation=organisation, resource=Resource.VOLUMES)
    assert set(volumes.values_list("department_id", "user_id")) == {(None, None), (None, bob.pk)}
    volumes.delete()
    runs_of = {level: used for (level, _resource, _model), used in books(organisation).items()}
    assert runs_of == {None: 15, bob.pk: 5, carol.pk: 10, team.pk: 3, old.pk: 4, new.pk: 3}


CHANGES: dict[str, Callable[[Organisation, User], None]] = {
    "reserve": lambda lab, bob: quotas.reserve(**place(lab, bob), amounts={Resource.RUNS: 1}),
    "release": lambda lab, bob: quotas.release(**place(lab, bob), amounts={Resource.RUNS: 1}),
    "release all": lambda lab, _bob: quotas.release_all(organisation_id=lab.pk, holder=holder()),
    "move a person": lambda lab, bob: quotas.move_person(organisation_id=lab.pk, user_id=bob.pk, department_id=None),
    "limit": lambda lab, _bob: quotas.set_limit(platform(), organisation_id=lab.pk, resource=Resource.RUNS, limit=1),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_waits_for_the_organisations_lock(change: str) -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=0)
        bob = make_member(organisation, "bob")
        another = connection.copy()
        try:
            with another.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute("SELECT 1 FROM tenants_organisation WHERE id = %s FOR NO KEY UPDATE", [organisation.pk])
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '100ms'")
                with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
                    CHANGES[change](organisation, bob)
        finally:
            another.close()
