"""Departments and people of an organisation with what they use and may use, as the platform's staff see them."""

from uuid import UUID

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import Resource
from apps.tenants.quotas import set_limit
from apps.tenants.services.departments import create_department
from tests.builders import World, make_organisation, platform
from tests.console.kit import page, text_of


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
