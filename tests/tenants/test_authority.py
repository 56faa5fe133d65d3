"""Who an actor is, in every field that others rely on, and whom they may change."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import Conflict, Denied, Frozen, Invalid, NoMember, NotFound
from apps.common.permissions import Permission as P
from apps.common.scoping import acting, organisation_manager
from apps.tenants import authority
from apps.tenants.actors import (
    current_membership,
    memberships,
    organisation_actor,
    personal_actor,
    platform_actor,
    platform_permissions,
)
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Department, Membership, Organisation, OrganisationRole, User
from apps.tenants.roles import ORGANISATION_ROLES, PLATFORM_ROLES
from apps.tenants.services import add_member, assign_platform_role, set_organisation_status
from apps.tenants.services.members import Place, change_member
from apps.tenants.services.roles import create_role
from tests.builders import actor_of, make_member, make_organisation, make_staff, make_user, platform

CALLED_FROM = {"channel": Channel.API, "address": "192.0.2.7"}


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(name="Lab B", balance_fen=0)


@pytest.fixture
def bob(organisation: Organisation) -> User:
    return make_member(organisation, "bob")


def membership(user: User, organisation: Organisation) -> Membership:
    return Membership.objects.get(user=user, organisation=organisation)


def test_a_member_acts_with_the_rights_of_their_role_for_their_organisation_and_department(
    organisation: Organisation, bob: User
) -> None:
    vision = Department.objects.create(organisation=organisation, name="Vision")
    change_member(platform(), user_id=bob.pk, organisation_id=organisation.pk, place=Place(department_id=vision.pk))
    actor = organisation_actor(bob, organisation.pk, **CALLED_FROM)  # type: ignore[arg-type]
    assert actor == Actor(
        user_id=bob.pk,
        label=bob.display_name,
        organisation_id=organisation.pk,
        department_id=vision.pk,
        permissions=ORGANISATION_ROLES[Role.MEMBER],
        priority=3,
        channel=Channel.API,
        address="192.0.2.7",
    )
    assert organisation_actor(bob).channel == Channel.WEB


def test_what_a_freeze_forbids_is_refused_as_that(organisation: Organisation, bob: User) -> None:
    set_organisation_status(platform(), organisation_id=organisation.pk, status=OrganisationStatus.FROZEN)
    actor = organisation_actor(bob)
    assert actor.permissions | actor.withheld == ORGANISATION_ROLES[Role.MEMBER]
    assert not actor.permissions & actor.withheld
    with pytest.raises(Frozen) as frozen:
        actor.require(P.TRAINING_SUBMIT)
    with pytest.raises(Denied) as refusal:
        actor.require(P.BILLING_VIEW)
    assert not isinstance(refusal.value, Frozen)
    assert (frozen.value.permission, refusal.value.permission) == (P.TRAINING_SUBMIT, P.BILLING_VIEW)
    actor.require(P.TRAINING_VIEW)


@pytest.mark.parametrize(("model", "path"), [(Membership, ()), (Organisation, ("id",))])
def test_a_manager_reaches_the_rows_whose_path_leads_to_the_actors_organisation(
    organisation: Organisation, bob: User, model: type[Membership | Organisation], path: tuple[str, ...]
) -> None:
    make_member(make_organisation(balance_fen=0), "charlie")
    manager = organisation_manager(*path)
    manager.model = model
    with acting(organisation_actor(bob)):
        assert [getattr(row, path[0] if path else "organisation_id") for row in manager.all()] == [organisation.pk]


def test_who_is_no_member_is_told_so(organisation: Organisation) -> None:
    with pytest.raises(NoMember) as refusal:
        organisation_actor(make_user("charlie"))
    assert refusal.value.permission == P.ORGANISATION_VIEW


def test_staff_act_for_no_organisation_with_all_that_their_roles_allow(organisation: Organisation) -> None:
    ann = make_staff(PlatformRole.BUSINESS, "ann")
    actor = platform_actor(ann, **CALLED_FROM)  # type: ignore[arg-type]
    assert actor == Actor(
        user_id=ann.pk,
        label=ann.display_name,
        organisation_id=None,
        permissions=PLATFORM_ROLES[PlatformRole.BUSINESS],
        platform=True,
        channel=Channel.API,
        address="192.0.2.7",
    )
    assert platform_actor(ann).channel == Channel.WEB


def test_rights_of_several_roles_add_up_and_are_nobody_elses(organisation: Organisation, bob: User) -> None:
    ann = make_staff(PlatformRole.BUSINESS, "ann")
    assign_platform_role(platform(), user=ann, role=PlatformRole.OPS)
    both = PLATFORM_ROLES[PlatformRole.BUSINESS] | PLATFORM_ROLES[PlatformRole.OPS]
    assert platform_permissions(ann) == both
    assert platform_permissions(bob) == frozenset()
    with pytest.raises(Denied) as refusal:
        platform_actor(bob)
    assert refusal.value.permission == P.PLATFORM_OVERVIEW


def test_about_themselves_a_person_acts_without_rights(organisation: Organisation, bob: User) -> None:
    actor = personal_actor(bob, **CALLED_FROM)  # type: ignore[arg-type]
    assert actor == Actor(
        user_id=bob.pk,
        label=bob.display_name,
        organisation_id=organisation.pk,
        permissions=frozenset(),
        channel=Channel.API,
        address="192.0.2.7",
    )
    assert personal_actor(bob).channel == Channel.WEB


@pytest.mark.parametrize("channel", [Channel.TASK, Channel.COMMAND])
def test_the_platform_itself_may_do_everything_and_is_nobody(channel: Channel) -> None:
    assert system_actor().channel == Channel.TASK
    actor = system_actor(channel)
    assert actor == Actor(
        user_id=None,
        label="PLStack",
        organisation_id=None,
        permissions=frozenset(P.every()),
        platform=True,
        channel=channel,
    )
    for identity in (actor.person, actor.organisation):
        with pytest.raises(Denied) as refusal:
            identity()
        assert refusal.value.permission == P.ORGANISATION_VIEW


def test_a_persons_organisations_are_read_at_once_by_name(
    organisation: Organisation, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name in ("Lab C", "Lab A"):
        add_member(platform(), organisation_id=make_organisation(name=name, balance_fen=0).pk, user=bob)
    vision = Department.objects.create(organisation=organisation, name="Vision")
    viewers = OrganisationRole.objects.create(organisation=organisation, name="Viewers", permissions=[P.TRAINING_VIEW])
    Membership.objects.filter(user=bob, organisation=organisation).update(department=vision, own_role=viewers)
    with django_assert_num_queries(1):
        mine = memberships(bob)
        told = [(m.organisation.name, m.department and m.department.name, m.own_role and m.own_role.name) for m in mine]
    assert told == [("Lab A", None, None), ("Lab B", "Vision", "Viewers"), ("Lab C", None, None)]
    first = current_membership(bob)
    assert first is not None
    assert first.organisation.name == "Lab A"


def test_a_persons_own_role_replaces_the_base_roles_rights(organisation: Organisation, bob: User) -> None:
    admin = actor_of(make_member(organisation, role=Role.ADMIN))
    role = create_role(admin, name="Viewers", permissions=[P.TRAINING_VIEW])
    change_member(admin, user_id=bob.pk, place=Place(own_role_id=role.pk))
    assert organisation_actor(bob).permissions == {P.TRAINING_VIEW}


def test_members_change_only_their_own_organisation(organisation: Organisation, bob: User) -> None:
    admin = actor_of(make_member(organisation, role=Role.ADMIN))
    for named in (None, organisation.pk):
        assert authority.organisation_for(admin, named) == organisation.pk
    with pytest.raises(NotFound):
        authority.organisation_for(admin, uuid4())
    with pytest.raises(Denied):
        authority.organisation_for(actor_of(bob))
    assert authority.organisation_for(actor_of(bob), permission=P.TRAINING_SUBMIT) == organisation.pk


def test_staff_name_the_organisation_that_they_change(organisation: Organisation) -> None:
    assert authority.organisation_for(platform(), organisation.pk) == organisation.pk
    with pytest.raises(NotFound):
        authority.organisation_for(platform())
    reader = Actor(1, "Ann", None, permissions=frozenset({P.PLATFORM_OVERVIEW, P.MEMBERS_MANAGE}), platform=True)
    with pytest.raises(Denied):
        authority.organisation_for(reader, organisation.pk)


@pytest.mark.parametrize(("role", "rank"), [(Role.MEMBER, 1), (Role.FINANCE, 2), (Role.ADMIN, 3)])
def test_a_rank_is_that_of_the_role_in_the_organisation_asked_about(
    organisation: Organisation, role: Role, rank: int
) -> None:
    carol, elsewhere = make_member(organisation, "carol", role), make_organisation(balance_fen=0)
    make_member(organisation, "dave", Role.ADMIN)
    add_member(platform(), organisation_id=elsewhere.pk, user=carol, role=Role.FINANCE)
    assert authority.rank_of(actor_of(carol), organisation.pk) == rank
    assert authority.rank_of(actor_of(carol), elsewhere.pk) == 2
    assert authority.rank_of(actor_of(carol), uuid4()) == 0
    assert authority.rank_of(platform(), organisation.pk) == 4


@pytest.mark.parametrize(
    ("actor", "changed", "allowed"),
    [
        (Role.FINANCE, Role.MEMBER, True),
        (Role.FINANCE, Role.FINANCE, False),
        (Role.ADMIN, Role.FINANCE, True),
        (Role.ADMIN, Role.ADMIN, False),
        (None, Role.ADMIN, True),
    ],
)
def test_one_changes_only_people_of_a_lower_rank(
    organisation: Organisation, actor: Role | None, changed: Role, allowed: bool
) -> None:
    by = actor_of(make_member(organisation, "carol", actor)) if actor else platform()
    member = membership(make_member(organisation, "dave", changed), organisation)
    if allowed:
        authority.require_above(by, member)
        return
    with pytest.raises(Conflict, match=r"^You can change only people of a lower rank than your own\.$") as refusal:
        authority.require_above(by, member)
    assert str(refusal.value.hint) == "The platform's administrators can change administrators."


def test_one_gives_no_role_above_ones_own(organisation: Organisation) -> None:
    carol = actor_of(make_member(organisation, "carol", Role.FINANCE))
    with pytest.raises(Invalid) as refusal:
        authority.require_grantable(carol, organisation.pk, Role.ADMIN, None)
    assert {name: str(words) for name, words in refusal.value.fields.items()} == {
        "role": "You cannot give a role above your own."
    }
    authority.require_grantable(carol, organisation.pk, Role.FINANCE, None)
    authority.require_grantable(platform(), organisation.pk, Role.ADMIN, None)


def test_one_gives_no_rights_that_one_lacks(organisation: Organisation) -> None:
    """Finance lacks what members may; a role of one's own is judged by its rights alone."""
    carol = actor_of(make_member(organisation, "carol", Role.FINANCE))
    large = OrganisationRole(organisation=organisation, name="Large", permissions=[P.TRAINING_SUBMIT])
    small = OrganisationRole(organisation=organisation, name="Small", permissions=[P.BILLING_VIEW])
    for own_role, field in ((None, "role"), (large, "own_role")):
        with pytest.raises(Invalid, match="This role allows more than you may do") as refusal:
            authority.require_grantable(carol, organisation.pk, Role.MEMBER, own_role)
        assert list(refusal.value.fields) == [field]
        authority.require_grantable(platform(), organisation.pk, Role.MEMBER, own_role)
    authority.require_grantable(carol, organisation.pk, Role.MEMBER, small)


FOUND: dict[str, tuple[Callable[[Organisation], Department | OrganisationRole], Callable[..., object], str]] = {
    "department": (
        lambda lab: Department.objects.create(organisation=lab, name="Vision"),
        authority.department_in,
        "This department does not exist any more.",
    ),
    "own_role": (
        lambda lab: OrganisationRole.objects.create(organisation=lab, name="Viewers", permissions=[]),
        authority.own_role_in,
        "This role does not exist any more.",
    ),
}


@pytest.mark.parametrize("field", FOUND)
def test_a_department_or_role_is_found_in_its_own_organisation_only(organisation: Organisation, field: str) -> None:
    make, find, words = FOUND[field]
    ours, theirs = make(organisation), make(make_organisation(balance_fen=0))
    assert find(organisation.pk, ours.pk) == ours
    assert find(organisation.pk, None) is None
    for missing in (theirs.pk, uuid4()):
        with pytest.raises(Invalid) as refusal:
            find(organisation.pk, missing)
        assert {name: str(told) for name, told in refusal.value.fields.items()} == {field: words}
