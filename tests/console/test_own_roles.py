"""An organisation's own roles and its members' places, as the platform's staff see and manage them."""

import pytest
from django.test import Client

from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Membership, OrganisationRole, Quota, User
from apps.tenants.services.roles import create_role
from tests.builders import World, make_member, make_organisation, platform
from tests.console.kit import last_entry, messages_of, page, post, text_of


@pytest.fixture
def reviewer(world: World) -> OrganisationRole:
    with acting(platform()):
        return role_in(world.organisation.pk)


@pytest.fixture
def bob(world: World) -> User:
    with acting(platform()):
        return make_member(world.organisation, "bob", Role.MEMBER)


def role_in(organisation_id: object, name: str = "Reviewer") -> OrganisationRole:
    return create_role(platform(), name=name, permissions=[P.PACKAGES_REVIEW], organisation_id=organisation_id)  # type: ignore[arg-type]


def test_staff_see_the_roles_of_one_organisation(business: Client, world: World, reviewer: OrganisationRole) -> None:
    with acting(platform()):
        role_in(make_organisation("Other").pk, "Theirs")
    text = text_of(business.get(page("organisation_roles", world.organisation.pk)))
    assert ("Reviewer" in text, "Theirs" in text) == (True, False)


def test_an_organisation_without_own_roles_says_what_there_is(business: Client, world: World) -> None:
    assert "No roles of its own" in text_of(business.get(page("organisation_roles", world.organisation.pk)))


def test_staff_make_change_and_delete_a_role_of_rights_that_they_do_not_hold(business: Client, world: World) -> None:
    pk = world.organisation.pk
    address = page("organisation_role_new", pk)
    assert "you do not hold it" not in text_of(business.get(address))
    post(business, address, name="Reviewer", permissions=[P.PACKAGES_REVIEW.value])
    with acting(platform()):
        role = OrganisationRole.objects.get(organisation_id=pk)
    wanted = [P.PACKAGES_REVIEW.value, P.QUOTAS_VIEW.value]
    post(business, page("organisation_role", pk, role.pk), name="Reviewer", permissions=wanted)
    assert last_entry("role.changed").after["permissions"] == "quotas.view, packages.review"
    post(business, page("organisation_role_delete", pk, role.pk))
    with acting(platform()):
        assert not OrganisationRole.objects.filter(pk=role.pk).exists()


def test_no_right_of_the_platform_gets_into_a_role(business: Client, world: World) -> None:
    sent = {"name": "Root", "permissions": [P.PLATFORM_TENANTS_MANAGE.value]}
    response = post(business, page("organisation_role_new", world.organisation.pk), **sent)
    assert response.status_code == 422
    assert "There is no such permission" in text_of(response)


def test_a_role_that_somebody_has_stays(business: Client, world: World, reviewer: OrganisationRole, bob: User) -> None:
    pk = world.organisation.pk
    with acting(platform()):
        Membership.objects.filter(user=bob).update(own_role=reviewer)
    refused = post(business, page("organisation_role_delete", pk, reviewer.pk), follow=True)
    assert "Members have this role" in messages_of(refused)[0]


def test_who_may_only_look_changes_no_role(finance: Client, world: World, reviewer: OrganisationRole) -> None:
    pk = world.organisation.pk
    address = page("organisation_role", pk, reviewer.pk)
    assert "Save" not in text_of(finance.get(address))
    assert post(finance, address, name="X", permissions=[P.PACKAGES_REVIEW.value]).status_code == 403
    assert finance.get(page("organisation_role_new", pk)).status_code == 403
    assert post(finance, page("organisation_role_delete", pk, reviewer.pk)).status_code == 403


def test_the_api_makes_changes_and_deletes_roles(business: Client, finance: Client, world: World) -> None:
    base = f"/api/v1/console/organisations/{world.organisation.pk}/roles/"
    sent = {"name": "Reviewer", "permissions": ["packages.review"]}
    made = business.post(base, sent, content_type="application/json")
    assert made.status_code == 201
    one = f"{base}{made.json()['id']}/"
    changed = business.put(one, {**sent, "name": "Judge"}, content_type="application/json").json()
    assert (changed["name"], business.get(one).json()) == ("Judge", changed)
    assert [row["name"] for row in finance.get(base).json()] == ["Judge"]
    assert finance.delete(one).status_code == 403
    assert business.delete(one).status_code == 204
    with acting(platform()):
        theirs = role_in(make_organisation("Other").pk, "Theirs")
    assert business.get(f"{base}{theirs.pk}/").status_code == 404
    assert business.put(f"{base}{theirs.pk}/", sent, content_type="application/json").status_code == 404


# A member's place and limits


def test_staff_give_a_member_an_own_role_and_tell_them(
    business: Client, world: World, reviewer: OrganisationRole, bob: User
) -> None:
    address = page("organisation_member", world.organisation.pk, bob.pk)
    place = {"role": "member", "own_role": str(reviewer.pk), "department": "", "priority": "4", "weight": "2"}
    assert "was changed" in messages_of(post(business, address, follow=True, **place))[0]
    with acting(platform()):
        member = Membership.objects.get(user=bob)
        told = Notice.objects.filter(user=bob, kind="member.role_changed").count()
    assert (member.own_role_id, member.priority, member.weight, told) == (reviewer.pk, 4, 2, 1)
    assert "Reviewer" in text_of(business.get(page("organisation_members", world.organisation.pk)))


def test_the_last_administrator_stays_one(business: Client, world: World) -> None:
    with acting(platform()):
        ada = make_member(world.organisation, "ada", Role.ADMIN)
        Membership.objects.filter(organisation=world.organisation).exclude(user=ada).update(role=Role.MEMBER)
    address = page("organisation_member", world.organisation.pk, ada.pk)
    response = post(business, address, role="member", own_role="", department="", priority="3", weight="1")
    assert response.status_code == 422
    assert "last administrator" in text_of(response)


def test_staff_limit_a_person(business: Client, finance: Client, world: World, bob: User) -> None:
    address = page("organisation_member", world.organisation.pk, bob.pk)
    assert post(finance, address, act="limits", cpu_milli="8").status_code == 403
    assert "1 limit was set" in messages_of(post(business, address, act="limits", cpu_milli="8", follow=True))[0]
    with acting(platform()):
        assert Quota.objects.get(user=bob, resource=Resource.CPU_MILLI).limit == 8000
    assert post(business, address, act="limits", cpu_milli="-1").status_code == 422


def test_somebody_of_another_organisation_is_not_found(business: Client, world: World) -> None:
    with acting(platform()):
        other = make_member(make_organisation("Other"), "carol")
    assert business.get(page("organisation_member", world.organisation.pk, other.pk)).status_code == 404


def test_the_api_changes_a_members_place(business: Client, world: World, bob: User) -> None:
    one = f"/api/v1/console/organisations/{world.organisation.pk}/members/{bob.pk}/"
    answer = business.patch(one, {"priority": 5, "role": "finance"}, content_type="application/json").json()
    assert (answer["priority"], answer["role"]) == (5, "finance")
    assert business.get(one).json() == answer
    assert business.patch(one, {"priority": 9}, content_type="application/json").status_code == 400
