"""Organisations and people: who may make them, what is refused, what is written down."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants import services
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Membership, Organisation, PlatformAssignment, User
from apps.tenants.services import Person
from tests.builders import (
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    make_user,
    platform,
    staff_actor,
    unique,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def staff() -> Iterator[Actor]:
    """The platform's own scope is active during each test."""
    with acting(platform()) as actor:
        yield actor


def entries(action: str) -> list[Entry]:
    return list(Entry.objects.filter(action=action).order_by("pk"))


def test_a_new_organisation_is_active_and_written_down(staff: Actor) -> None:
    organisation = services.create_organisation(staff, name="  Vision   Lab ")
    assert (organisation.name, organisation.slug, organisation.status) == ("Vision Lab", "vision-lab", "active")
    assert entries("organisation.created")[-1].after == {"name": "Vision Lab", "slug": "vision-lab"}


def test_a_name_without_latin_letters_gets_a_short_name_of_its_own(staff: Actor) -> None:
    assert services.create_organisation(staff, name="智能计算实验室").slug.startswith("org-")


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_name_has_1_to_80_characters(staff: Actor, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        services.create_organisation(staff, name=name)
    assert "name" in refusal.value.fields


def test_a_taken_name_is_refused_whatever_its_case(staff: Actor) -> None:
    services.create_organisation(staff, name="Vision Lab")
    with pytest.raises(Invalid) as refusal:
        services.create_organisation(staff, name="VISION LAB")
    assert "name" in refusal.value.fields
    assert Organisation.objects.filter(name__iexact="vision lab").count() == 1


def test_only_staff_for_tenants_may_make_organisations() -> None:
    member = actor_of(make_member(make_organisation(), role=Role.ADMIN))
    with pytest.raises(Denied):
        services.create_organisation(member, name=unique("Lab"))
    with pytest.raises(Denied):
        services.create_organisation(staff_actor(make_staff(PlatformRole.OPS)), name=unique("Lab"))


def test_freezing_and_thawing_are_written_down_with_before_and_after(staff: Actor) -> None:
    organisation = make_organisation()
    services.set_organisation_status(staff, organisation_id=organisation.pk, status=OrganisationStatus.FROZEN)
    entry = entries("organisation.frozen")[-1]
    assert (entry.before, entry.after) == ({"status": "active"}, {"status": "frozen"})
    with pytest.raises(Conflict):
        services.set_organisation_status(staff, organisation_id=organisation.pk, status=OrganisationStatus.FROZEN)
    services.set_organisation_status(staff, organisation_id=organisation.pk, status=OrganisationStatus.ACTIVE)
    organisation.refresh_from_db()
    assert organisation.status == OrganisationStatus.ACTIVE


def test_an_unknown_organisation_is_not_found(staff: Actor) -> None:
    with pytest.raises(NotFound):
        services.set_organisation_status(staff, organisation_id=uuid4(), status=OrganisationStatus.FROZEN)


def test_a_generated_password_is_returned_once_and_works(staff: Actor) -> None:
    user, password = services.create_user(staff, person=Person(username=unique("bob")))
    assert password is not None
    assert user.check_password(password)
    assert password not in str(entries("user.created")[-1].after)


@pytest.mark.parametrize(
    ("person", "field"),
    [
        (Person(username="bad name!", password="correct-horse-9"), "username"),
        (Person(username="", password="correct-horse-9"), "username"),
        (Person(username="bob", email="nowhere", password="correct-horse-9"), "email"),
        (Person(username="bob", password="short"), "password"),
        (Person(username="bobby-tables", password="bobby-tables"), "password"),
    ],
)
def test_a_person_that_cannot_be_accepted_is_refused_beside_the_field(staff: Actor, person: Person, field: str) -> None:
    before = User.objects.count()
    with pytest.raises(Invalid) as refusal:
        services.create_user(staff, person=person)
    assert field in refusal.value.fields
    assert User.objects.count() == before


def test_names_and_addresses_are_unique_whatever_their_case(staff: Actor) -> None:
    taken = make_user("bob")
    with pytest.raises(Invalid) as by_name:
        services.create_user(staff, person=Person(username=taken.username.upper(), password="correct-horse-9"))
    assert "username" in by_name.value.fields
    again = Person(username=unique("bob"), email=taken.email.upper(), password="correct-horse-9")
    with pytest.raises(Invalid) as by_mail:
        services.create_user(staff, person=again)
    assert "email" in by_mail.value.fields


def test_a_member_joins_once(staff: Actor) -> None:
    organisation, user = make_organisation(), make_user()
    services.add_member(staff, organisation_id=organisation.pk, user=user, role=Role.FINANCE, priority=5)
    with pytest.raises(Conflict):
        services.add_member(staff, organisation_id=organisation.pk, user=user)
    assert Membership.objects.get(user=user).role == Role.FINANCE
    assert entries("member.added")[-1].after == {"role": "finance", "priority": 5}


@pytest.mark.parametrize("priority", [0, 6, -1])
def test_priority_is_from_1_to_5(staff: Actor, priority: int) -> None:
    with pytest.raises(Invalid):
        services.add_member(staff, organisation_id=make_organisation().pk, user=make_user(), priority=priority)


def test_a_platform_role_is_given_once_and_written_down_once(staff: Actor) -> None:
    user = make_user()
    services.assign_platform_role(staff, user=user, role=PlatformRole.OPS)
    services.assign_platform_role(staff, user=user, role=PlatformRole.OPS)
    assert PlatformAssignment.objects.filter(user=user).count() == 1
    assert len([e for e in entries("platform_role.assigned") if e.target_id == str(user.pk)]) == 1


def test_only_who_manages_roles_may_give_them() -> None:
    with pytest.raises(Denied):
        services.assign_platform_role(
            staff_actor(make_staff(PlatformRole.BUSINESS)), user=make_user(), role=PlatformRole.SUPER
        )


def test_one_works_only_where_one_belongs() -> None:
    mine, other = make_organisation(), make_organisation()
    user = make_member(mine)
    with pytest.raises(NotFound):
        services.choose_organisation(actor_of(user), organisation_id=other.pk)


def test_a_profile_change_is_written_down_and_an_empty_one_is_not() -> None:
    user = make_member(make_organisation())
    actor = actor_of(user)
    services.update_profile(actor, name="Lin Xiao", email="LIN@example.org", language="en")
    user.refresh_from_db()
    assert (user.name, user.email, user.language) == ("Lin Xiao", "lin@example.org", "en")
    services.update_profile(actor, name="Lin Xiao", email="lin@example.org", language="en")
    assert len([e for e in entries("user.updated") if e.target_id == str(user.pk)]) == 1


def test_an_address_of_somebody_else_is_refused() -> None:
    other, user = make_user("bob"), make_member(make_organisation())
    with pytest.raises(Invalid) as refusal:
        services.update_profile(actor_of(user), name="", email=other.email.upper(), language="")
    assert "email" in refusal.value.fields
