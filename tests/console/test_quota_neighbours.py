"""A limit on the page: what the levels above have, and what was promised to the departments below."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Department, Organisation, User
from tests.builders import make_member, make_organisation, platform, signed_in

pytestmark = pytest.mark.django_db
NEVER, MORE = "this limit never counts", "more than there is here"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation()


@pytest.fixture
def dora(lab: Organisation) -> Client:
    with acting(platform()):
        return signed_in(make_member(lab, "dora", Role.ADMIN))


def department(lab: Organisation, name: str, cards: int | None, parent: Department | None = None) -> Department:
    made: Department = Department.objects.create(organisation=lab, name=name, parent=parent)
    give(lab, cards, department_id=made.pk)
    return made


def give(lab: Organisation, cards: int | None, **level: object) -> None:
    amount = None if cards is None else cards * 1000
    quotas.set_limit(
        platform(),
        organisation_id=lab.pk,
        resource=Resource.GPU_MILLI,
        limit=amount,
        **level,  # type: ignore[arg-type]
    )


def shown(client: Client, of: Department | User | None) -> str:
    path = "" if of is None else f"departments/{of.pk}/" if isinstance(of, Department) else f"people/{of.pk}/"
    return client.get(f"/organisation/quotas/{path}").content.decode()


def test_a_limit_above_the_parents_says_that_it_never_counts(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        give(lab, 8)
        research = department(lab, "Research", 6)
        between = department(lab, "Between", None, research)
        vision = department(lab, "Vision", 10, between)
    page = shown(dora, vision)
    assert "Research above it has 6" in page
    assert NEVER in page
    with acting(platform()):
        give(lab, 6, department_id=vision.pk)
    assert NEVER not in shown(dora, vision)


def test_the_organisations_limit_stands_above_all(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        give(lab, 4)
        research = department(lab, "Research", 6)
    page = shown(dora, research)
    assert "the organisation has 4" in page
    assert NEVER in page


def test_what_the_children_were_promised_is_summed(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        research = department(lab, "Research", 6)
        vision = department(lab, "Vision", 4, research)
        department(lab, "Speech", 2, research)
        department(lab, "Below", 9, vision)
    page = shown(dora, research)
    assert "the departments below may hold 6" in page
    assert MORE not in page
    with acting(platform()):
        give(lab, 5, department_id=vision.pk)
    page = shown(dora, research)
    assert "the departments below may hold 7" in page
    assert MORE in page


def test_the_whole_organisation_shows_what_its_departments_have(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        give(lab, 4)
        department(lab, "Research", 6)
    page = shown(dora, None)
    assert "the departments below may hold 6" in page
    assert MORE in page
    assert "the organisation has" not in page


def test_a_person_is_measured_by_their_department(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        research = department(lab, "Research", 2)
        bob = make_member(lab, "bob")
        bob.memberships.with_scopes_disabled().update(department=research)
        give(lab, 3, user_id=bob.pk)
    page = shown(dora, bob)
    assert "Research above it has 2" in page
    assert NEVER in page
    assert "the departments below" not in page


def test_nothing_is_said_where_nothing_is_limited(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        research = department(lab, "Research", 6)
    page = shown(dora, research)
    assert "above it has" not in page
    assert "the departments below" not in page


def test_limits_of_others_do_not_count(lab: Organisation, dora: Client) -> None:
    with acting(platform()):
        other = make_organisation()
        give(other, 1)
        department(other, "Theirs", 1)
        department(lab, "Beside", 1)
        research = department(lab, "Research", 6)
    assert NEVER not in shown(dora, research)
