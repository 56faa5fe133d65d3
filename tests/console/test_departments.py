"""Departments and people of an organisation with what they use and may use, as the platform's staff see them."""

from uuid import UUID

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Quota
from apps.tenants.quotas import set_limit
from apps.tenants.services.departments import create_department
from tests.builders import World, make_organisation, platform
from tests.console.kit import last_entry, messages_of, page, post, text_of


@pytest.fixture
def vision(world: World) -> UUID:
    """A department below another, limited to 8 cards."""
    pk = world.organisation.pk
    with acting(platform()):
        research = create_department(platform(), name="Research", organisation_id=pk)
        vision = create_department(platform(), name="Vision", parent_id=research.pk, organisation_id=pk)
        set_limit(platform(), organisation_id=pk, department_id=vision.pk, resource=Resource.GPU_MILLI, limit=8000)
        create_department(platform(), name="Theirs", organisation_id=make_organisation("Other").pk)
    return vision.pk


def test_staff_see_the_whole_tree_of_one_organisation(business: Client, world: World, vision: UUID) -> None:
    text = text_of(business.get(page("organisation_departments", world.organisation.pk)))
    assert "Research / Vision" in text
    assert "0 of 8" in text
    assert "Theirs" not in text


def test_staff_who_manage_organisations_make_a_department_and_rename_it(business: Client, world: World) -> None:
    pk = world.organisation.pk
    made = post(business, page("organisation_department_new", pk), name="Research", parent="", follow=True)
    assert "Research was made" in messages_of(made)[0]
    with acting(platform()):
        research = Department.objects.get(organisation_id=pk, name="Research").pk
    post(business, page("organisation_department_new", pk), name="Vision", parent=str(research))
    address = page("organisation_department", pk, research)
    post(business, address, act="name", name="Basic research", weight="3")
    with acting(platform()):
        vision = Department.objects.select_related("parent").get(organisation_id=pk, name="Vision")
    assert (vision.parent.name, vision.parent.weight) == ("Basic research", 3)
    assert last_entry("department.renamed").after == {"name": "Basic research"}


def test_a_name_that_is_taken_is_refused_beside_its_field(business: Client, world: World, vision: UUID) -> None:
    response = post(business, page("organisation_department_new", world.organisation.pk), name="Research", parent="")
    assert response.status_code == 422
    assert "There is a department of this name" in response.context["form"].errors["name"][0]


def test_a_department_moves_and_what_cannot_move_stays(business: Client, world: World, vision: UUID) -> None:
    address = page("organisation_department", world.organisation.pk, vision)
    assert "Vision was moved" in messages_of(post(business, address, act="move", parent="", follow=True))[0]
    with acting(platform()):
        assert Department.objects.get(pk=vision).parent_id is None
    assert post(business, address, act="move", parent=str(vision)).status_code == 422


def test_staff_limit_a_department_and_see_what_stands_above(business: Client, world: World, vision: UUID) -> None:
    pk = world.organisation.pk
    with acting(platform()):
        set_limit(platform(), organisation_id=pk, resource=Resource.GPU_MILLI, limit=4000)
    address = page("organisation_department", pk, vision)
    assert "this limit never counts" in text_of(business.get(address))
    response = post(business, address, act="limits", gpu_milli="2", follow=True)
    assert "1 limit was set" in messages_of(response)[0]
    with acting(platform()):
        assert Quota.objects.get(department_id=vision, resource=Resource.GPU_MILLI, model="").limit == 2000
    wrong = post(business, address, act="limits", gpu_milli="many")
    assert (wrong.status_code, "gpu_milli" in wrong.context["limits"].errors) == (422, True)


def test_only_an_empty_department_is_deleted(business: Client, world: World, vision: UUID) -> None:
    pk = world.organisation.pk
    with acting(platform()):
        above = Department.objects.get(pk=vision).parent_id
    refused = post(business, page("organisation_department_delete", pk, above), follow=True)
    assert "It has departments below it" in messages_of(refused)[0]
    post(business, page("organisation_department_delete", pk, vision))
    with acting(platform()):
        assert not Department.objects.filter(pk=vision).exists()


def test_another_organisations_department_is_not_found(business: Client, world: World, vision: UUID) -> None:
    with acting(platform()):
        other = Department.objects.get(name="Theirs").pk
    assert business.get(page("organisation_department", world.organisation.pk, other)).status_code == 404
    assert post(business, page("organisation_department_delete", world.organisation.pk, other)).status_code == 404


def test_who_may_only_look_changes_nothing(finance: Client, world: World, vision: UUID) -> None:
    pk = world.organisation.pk
    address = page("organisation_department", pk, vision)
    text = text_of(finance.get(address))
    assert ("Set limits" in text, "Delete" in text) == (False, False)
    assert post(finance, address, act="limits", gpu_milli="1").status_code == 403
    assert post(finance, address, act="name", name="X").status_code == 403
    assert finance.get(page("organisation_department_new", pk)).status_code == 403


def test_an_organisation_without_departments_says_who_makes_them(business: Client, world: World) -> None:
    text = text_of(business.get(page("organisation_departments", world.organisation.pk)))
    assert "own administrators make departments" in text


def test_members_are_listed_with_their_own_limits(business: Client, world: World) -> None:
    pk = world.organisation.pk
    with acting(platform()):
        set_limit(platform(), organisation_id=pk, user_id=world.alice.pk, resource=Resource.CPU_MILLI, limit=16000)
    assert "0 of 16" in text_of(business.get(page("organisation_members", pk)))


def test_the_api_lists_the_tree(business: Client, world: World, vision: UUID) -> None:
    answer = business.get(f"/api/v1/console/organisations/{world.organisation.pk}/departments/").json()
    assert [(row["name"], row["parent_id"] is None) for row in answer["results"]] == [
        ("Research", True),
        ("Vision", False),
    ]


def test_the_api_makes_changes_and_deletes(business: Client, world: World, vision: UUID) -> None:
    base = f"/api/v1/console/organisations/{world.organisation.pk}/departments/"
    made = business.post(base, {"name": "Robotics"}, content_type="application/json")
    assert made.status_code == 201
    one = f"{base}{made.json()['id']}/"
    changes = {"name": "Robots", "parent_id": str(vision), "weight": 4}
    answer = business.patch(one, changes, content_type="application/json").json()
    assert (answer["name"], answer["parent_id"], answer["weight"]) == ("Robots", str(vision), 4)
    assert business.get(one).json() == answer
    assert business.delete(one).status_code == 204
    assert business.get(one).status_code == 404


def test_the_api_limits_departments_and_people(business: Client, finance: Client, world: World, vision: UUID) -> None:
    base = f"/api/v1/console/organisations/{world.organisation.pk}/quotas/"
    rows = [{"resource": "gpu_milli", "limit": 3000}]
    for level in (f"department={vision}", f"user={world.alice.pk}"):
        answer = business.put(f"{base}?{level}", rows, content_type="application/json").json()
        assert {row["resource"]: row["limit"] for row in answer if not row["model"]}["gpu_milli"] == 3000
        assert finance.put(f"{base}?{level}", rows, content_type="application/json").status_code == 403
    with acting(platform()):
        other = Department.objects.get(name="Theirs").pk
    assert business.get(f"{base}?department={other}").status_code == 404
    assert business.get(f"{base}?department=nonsense").status_code == 400
    assert {row["limit"] for row in business.get(base).json()} == {None}
