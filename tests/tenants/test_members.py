"""Members: changed only from above, never without an administrator."""

from collections.abc import Iterator

import pytest

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership, Organisation
from apps.tenants.services.departments import create_department
from apps.tenants.services.members import Place, change_member, leave_organisation, remove_member
from apps.tenants.services.roles import create_role
from tests.builders import actor_of, make_member, make_organisation, platform


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def admin(organisation: Organisation) -> Actor:
    return actor_of(make_member(organisation, role=Role.ADMIN))


def test_a_new_place_is_written_down(admin: Actor, organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    vision = create_department(admin, name="Vision")
    change_member(admin, user_id=bob.pk, place=Place(role=Role.FINANCE, department_id=vision.pk, priority=5))
    entry = Entry.objects.get(action="member.changed")
    assert entry.before == {"role": "member", "priority": 3}
    assert entry.after == {"role": "finance", "priority": 5, "department": "Vision"}


def test_nobody_changes_an_equal(admin: Actor, organisation: Organisation) -> None:
    other = make_member(organisation, "bob", Role.ADMIN)
    for act in (
        lambda: change_member(admin, user_id=other.pk, place=Place()),
        lambda: remove_member(admin, user_id=other.pk),
        lambda: change_member(admin, user_id=admin.person(), place=Place()),
    ):
        with pytest.raises(Conflict):
            act()
    remove_member(platform(), user_id=other.pk, organisation_id=organisation.pk)


def test_the_last_administrator_stays(admin: Actor, organisation: Organisation) -> None:
    with pytest.raises(Conflict, match="last administrator"):
        leave_organisation(admin, organisation_id=organisation.pk)
    with pytest.raises(Conflict, match="last administrator"):
        change_member(platform(), user_id=admin.person(), place=Place(), organisation_id=organisation.pk)
    make_member(organisation, "bob", Role.ADMIN)
    leave_organisation(admin, organisation_id=organisation.pk)
    assert not Membership.objects.filter(user_id=admin.person()).exists()


def test_a_disabled_administrator_does_not_count(admin: Actor, organisation: Organisation) -> None:
    other = make_member(organisation, "bob", Role.ADMIN)
    other.is_active = False
    other.save()
    with pytest.raises(Conflict):
        leave_organisation(admin, organisation_id=organisation.pk)


def test_who_is_removed_sees_nothing_from_then_on(admin: Actor, organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    remove_member(admin, user_id=bob.pk)
    with pytest.raises(Denied):
        actor_of(bob, organisation)
    assert Entry.objects.get(action="member.removed").target_label == bob.username


def test_strangers_are_not_there(admin: Actor, organisation: Organisation) -> None:
    charlie = make_member(make_organisation(), "charlie")
    with pytest.raises(NotFound):
        change_member(admin, user_id=charlie.pk, place=Place())
    with pytest.raises(NotFound):
        change_member(admin, user_id=charlie.pk, place=Place(), organisation_id=make_organisation().pk)


@pytest.mark.parametrize("priority", [0, 6, -1])
def test_priority_is_1_to_5(admin: Actor, organisation: Organisation, priority: int) -> None:
    bob = make_member(organisation, "bob")
    with pytest.raises(Invalid):
        change_member(admin, user_id=bob.pk, place=Place(priority=priority))


def test_a_department_of_others_is_refused(admin: Actor, organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    elsewhere = create_department(platform(), name="Else", organisation_id=make_organisation().pk)
    with acting(admin), pytest.raises(Invalid):
        change_member(admin, user_id=bob.pk, place=Place(department_id=elsewhere.pk))


def test_a_manager_of_people_gives_no_more_than_they_have(admin: Actor, organisation: Organisation) -> None:
    """An own role replaces the permissions of the base role, which keeps the rank."""
    manager = create_role(admin, name="People", permissions=[P.MEMBERS_MANAGE, P.ORGANISATION_VIEW])
    carol = make_member(organisation, "carol")
    change_member(admin, user_id=carol.pk, place=Place(role=Role.FINANCE, own_role_id=manager.pk))
    actor = actor_of(carol)
    assert actor.permissions == {P.MEMBERS_MANAGE, P.ORGANISATION_VIEW}
    bob = make_member(organisation, "bob")
    change_member(actor, user_id=bob.pk, place=Place(priority=1))
    with pytest.raises(Invalid, match="more than you may do"):
        change_member(actor, user_id=bob.pk, place=Place(role=Role.FINANCE))
    with pytest.raises(Invalid, match="above your own"):
        change_member(actor, user_id=bob.pk, place=Place(role=Role.ADMIN))
    change_member(actor, user_id=bob.pk, place=Place(own_role_id=manager.pk))
    assert actor_of(bob).permissions == {P.MEMBERS_MANAGE, P.ORGANISATION_VIEW}
