"""Roles of one's own making: no more than their maker holds, in force at once."""

from collections.abc import Iterator

import pytest

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.tenants.actors import platform_actor
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Organisation, PlatformAssignment
from apps.tenants.services import assign_platform_role, set_organisation_status
from apps.tenants.services.accounts import reset_password, set_active
from apps.tenants.services.members import Place, change_member
from apps.tenants.services.roles import change_role, create_role, delete_role
from apps.tenants.services.staff import define_platform_role, delete_platform_role, withdraw_platform_role
from tests.builders import actor_of, make_member, make_organisation, make_staff, make_user, platform, signed_in

VIEWER = [P.TRAINING_VIEW, P.ORGANISATION_VIEW]


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def admin(organisation: Organisation) -> Actor:
    return actor_of(make_member(organisation, role=Role.ADMIN))


def test_a_changed_role_is_in_force_at_the_next_request(admin: Actor, organisation: Organisation) -> None:
    role = create_role(admin, name="Viewer", permissions=VIEWER)
    bob = make_member(organisation, "bob")
    change_member(admin, user_id=bob.pk, place=Place(own_role_id=role.pk))
    assert actor_of(bob).permissions == set(VIEWER)
    change_role(admin, role_id=role.pk, name="Viewer", permissions=[P.STORAGE_VIEW])
    assert actor_of(bob).permissions == {P.STORAGE_VIEW}


def test_a_role_in_use_is_not_deleted(admin: Actor, organisation: Organisation) -> None:
    role = create_role(admin, name="Viewer", permissions=VIEWER)
    bob = make_member(organisation, "bob")
    change_member(admin, user_id=bob.pk, place=Place(own_role_id=role.pk))
    with pytest.raises(Conflict):
        delete_role(admin, role_id=role.pk)
    change_member(admin, user_id=bob.pk, place=Place())
    delete_role(admin, role_id=role.pk)
    with pytest.raises(NotFound):
        delete_role(admin, role_id=role.pk)


@pytest.mark.parametrize("names", [["platform.overview"], ["training.fly"], []])
def test_what_is_no_permission_of_an_organisation_is_refused(
    admin: Actor, organisation: Organisation, names: list[str]
) -> None:
    with pytest.raises(Invalid):
        create_role(admin, name="Odd", permissions=names)


def test_nobody_makes_a_role_of_more_than_they_hold(admin: Actor, organisation: Organisation) -> None:
    maker = create_role(admin, name="Maker", permissions=[P.ORGANISATION_MANAGE, P.ORGANISATION_VIEW])
    bob = make_member(organisation, "bob")
    change_member(admin, user_id=bob.pk, place=Place(own_role_id=maker.pk))
    actor = actor_of(bob)
    with pytest.raises(Invalid):
        create_role(actor, name="More", permissions=[P.QUOTAS_MANAGE])
    with pytest.raises(Conflict, match="your own role"):
        change_role(actor, role_id=maker.pk, name="Maker", permissions=[P.ORGANISATION_VIEW])
    with pytest.raises(Denied):
        create_role(actor_of(make_member(organisation)), name="More", permissions=VIEWER)


def test_a_frozen_organisation_reads_and_reviews_nothing(admin: Actor, organisation: Organisation) -> None:
    set_organisation_status(platform(), organisation_id=organisation.pk, status=OrganisationStatus.FROZEN)
    left = actor_of(make_member(organisation, "bob", Role.ADMIN)).permissions
    assert P.TRAINING_VIEW in left
    assert not left & {P.PACKAGES_REVIEW, P.MEMBERS_MANAGE, P.TRAINING_SUBMIT}


def test_a_defined_role_of_the_staff(organisation: Organisation) -> None:
    boss = platform_actor(make_staff())
    role = define_platform_role(boss, name="Auditors", permissions=[P.PLATFORM_AUDIT_VIEW])
    ann = make_user("ann")
    assign_platform_role(boss, user=ann, defined_id=role.pk)
    assert platform_actor(ann).permissions == {P.PLATFORM_AUDIT_VIEW}
    with pytest.raises(Conflict):
        delete_platform_role(boss, role_id=role.pk)
    withdraw_platform_role(boss, assignment_id=PlatformAssignment.objects.get(user=ann).pk)
    delete_platform_role(boss, role_id=role.pk)
    with pytest.raises(Denied):
        platform_actor(ann)


def test_staff_give_and_take_no_more_than_they_hold(organisation: Organisation) -> None:
    boss = platform_actor(make_staff())
    manager = define_platform_role(boss, name="Managers", permissions=[P.PLATFORM_ROLES_MANAGE])
    ann, victim = make_user("ann"), make_staff()
    assign_platform_role(boss, user=ann, defined_id=manager.pk)
    actor = platform_actor(ann)
    with pytest.raises(Conflict):
        assign_platform_role(actor, user=ann, role=PlatformRole.SUPER)
    with pytest.raises(Invalid):
        define_platform_role(actor, name="More", permissions=[P.PLATFORM_RECHARGE])
    for act in (
        lambda: reset_password(actor, user_id=victim.pk),
        lambda: set_active(actor, user_id=victim.pk, active=False),
        lambda: withdraw_platform_role(actor, assignment_id=PlatformAssignment.objects.get(user=victim).pk),
    ):
        with pytest.raises(Conflict):
            act()


def test_the_last_super_admin_stays(organisation: Organisation) -> None:
    boss = make_staff()
    assignment = PlatformAssignment.objects.get(user=boss)
    with pytest.raises(Conflict, match="last super admin"):
        withdraw_platform_role(platform(), assignment_id=assignment.pk)
    with pytest.raises(Conflict, match="last super admin"):
        set_active(platform(), user_id=boss.pk, active=False)
    make_staff()
    withdraw_platform_role(platform(), assignment_id=assignment.pk)


def test_a_disabled_account_is_signed_out_at_once(organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    client = signed_in(bob)
    assert client.get("/account/").status_code == 200
    set_active(platform(), user_id=bob.pk, active=False)
    assert client.get("/account/").status_code == 302
    set_active(platform(), user_id=bob.pk, active=True)


def test_a_new_password_ends_every_session(organisation: Organisation) -> None:
    bob = make_member(organisation, "bob")
    client = signed_in(bob)
    password = reset_password(platform(), user_id=bob.pk)
    bob.refresh_from_db()
    assert bob.check_password(password)
    assert client.get("/account/").status_code == 302
