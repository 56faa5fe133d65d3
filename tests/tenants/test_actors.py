"""Who acts with which rights, and what a query reaches: nothing without an actor, never another organisation."""

import pytest
from django_scopes.exceptions import ScopeError

from apps.common.errors import Denied
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import services
from apps.tenants.actors import current_membership, organisation_actor, personal_actor, platform_actor
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Membership, Organisation, Quota, User
from tests.builders import (
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    make_user,
    platform,
    signed_in,
    staff_actor,
)

pytestmark = pytest.mark.django_db


def build() -> tuple[Organisation, User]:
    with acting(platform()):
        organisation = make_organisation()
        return organisation, make_member(organisation)


@pytest.mark.parametrize("model", [Organisation, Membership, Quota])
def test_a_query_without_an_actor_raises(model: type[Membership]) -> None:
    with pytest.raises(ScopeError):
        list(model.objects.all())


def test_another_organisations_rows_do_not_exist() -> None:
    (mine, alice), (other, bob) = build(), build()
    with acting(actor_of(alice)):
        assert list(Organisation.objects.all()) == [mine]
        assert not Organisation.objects.filter(pk=other.pk).exists()
        assert list(Membership.objects.values_list("user_id", flat=True)) == [alice.pk]
        assert Membership.objects.filter(user=bob).update(role=Role.ADMIN) == 0
    with acting(platform()):
        assert Membership.objects.get(user=bob).role == Role.MEMBER


def test_a_scope_ends_with_its_block() -> None:
    _mine, alice = build()
    with acting(actor_of(alice)):
        assert Membership.objects.exists()
    with pytest.raises(ScopeError):
        Membership.objects.count()


def test_a_person_without_an_organisation_reaches_no_row_at_all() -> None:
    build()
    with acting(platform()):
        stranger = make_user("charlie")
    actor = personal_actor(stranger)
    assert actor.organisation_id is None
    with acting(actor):
        assert not Organisation.objects.exists()
    with pytest.raises(Denied):
        organisation_actor(stranger)
    with pytest.raises(Denied):
        actor.organisation()


def test_no_one_acts_where_they_are_no_member() -> None:
    (_mine, alice), (other, _bob) = build(), build()
    with pytest.raises(Denied):
        organisation_actor(alice, other.pk)


@pytest.mark.parametrize(
    ("role", "may", "may_not"),
    [
        (Role.MEMBER, Permission.TRAINING_SUBMIT, Permission.BILLING_VIEW),
        (Role.FINANCE, Permission.BILLING_VIEW, Permission.TRAINING_SUBMIT),
        (Role.ADMIN, Permission.TRAINING_MANAGE_ALL, Permission.PLATFORM_OVERVIEW),
    ],
)
def test_each_base_role_has_its_own_rights(role: Role, may: Permission, may_not: Permission) -> None:
    with acting(platform()):
        organisation = make_organisation()
        actor = actor_of(make_member(organisation, role=role))
    assert actor.may(may)
    with pytest.raises(Denied):
        actor.require(may_not)


def test_members_of_a_frozen_organisation_only_read() -> None:
    organisation, alice = build()
    with acting(platform()) as staff:
        services.set_organisation_status(staff, organisation_id=organisation.pk, status=OrganisationStatus.FROZEN)
    actor = organisation_actor(alice)
    assert actor.may(Permission.TRAINING_VIEW)
    assert actor.may(Permission.BILLING_VIEW_OWN)
    assert not actor.may(Permission.TRAINING_SUBMIT)
    assert not any(permission.endswith((".submit", ".manage", ".manage_all")) for permission in actor.permissions)


def test_the_organisation_chosen_last_is_the_current_one() -> None:
    first, alice = build()
    with acting(platform()) as staff:
        second = make_organisation()
        services.add_member(staff, organisation_id=second.pk, user=alice)
    for organisation in (second, first):
        services.choose_organisation(actor_of(alice), organisation_id=organisation.pk)
        alice.refresh_from_db()
        membership = current_membership(alice)
        assert membership is not None
        assert membership.organisation_id == organisation.pk


def test_a_revoked_role_ends_with_the_next_request() -> None:
    organisation, alice = build()
    with acting(platform()):
        Membership.objects.filter(user=alice).delete()
    with pytest.raises(Denied):
        organisation_actor(alice, organisation.pk)


def test_staff_reach_everybody_but_only_with_a_role_of_the_platform() -> None:
    build()
    build()
    with acting(platform()):
        staff, outsider = make_staff(PlatformRole.BUSINESS), make_user()
    actor = staff_actor(staff)
    assert actor.platform
    with acting(actor):
        assert Organisation.objects.count() >= 2
    with pytest.raises(Denied):
        platform_actor(outsider)


def test_a_disabled_member_of_the_staff_has_no_rights() -> None:
    with acting(platform()):
        staff = make_staff()
    User.objects.filter(pk=staff.pk).update(is_active=False)
    with pytest.raises(Denied):
        platform_actor(staff)


def test_who_is_in_no_organisation_reads_that_and_not_that_their_role_is_too_small() -> None:
    with acting(platform()):
        outsider = make_user("outsider")
    page = signed_in(outsider).get("/training/", headers={"accept-language": "en"})
    assert page.status_code == 403
    assert "a member of an organisation here" in page.content.decode()
    assert "role" not in page.context["error"].message
