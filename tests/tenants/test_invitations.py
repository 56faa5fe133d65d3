"""Invitations: used as often as they say, by whom they are for, and by nobody once they are void."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.test import Client

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, DomainError, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.actors import personal_actor
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import Invitation, Membership, Organisation, User
from apps.tenants.services import set_organisation_status
from apps.tenants.services.departments import create_department
from apps.tenants.services.invitations import Offer, accept, find, invite, renew, revoke
from apps.tenants.services.members import Place, change_member
from tests.builders import PASSWORD, actor_of, make_member, make_organisation, make_user, platform, signed_in

NEW = "/organisation/invitations/new/"


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def admin(organisation: Organisation) -> Actor:
    return actor_of(make_member(organisation, role=Role.ADMIN))


def join(user: User, token: str) -> Membership:
    actor = personal_actor(user)
    with acting(actor):
        return accept(actor, token=token)


def form(**given: Any) -> dict[str, Any]:
    return {"how": "link", "max_uses": 1, "days": 7, "role": "member", "own_role": "", "department": "", **given}


def link_in(text: str) -> str:
    return text.split("/join/")[1].split("/")[0]


def test_who_follows_a_link_has_the_place_that_it_gives(admin: Actor, organisation: Organisation) -> None:
    department = create_department(admin, name="Vision")
    _made, token = invite(admin, offer=Offer(Place(role=Role.FINANCE, department_id=department.pk)))
    bob = make_user("bob")
    member = join(bob, token)
    assert (member.role, member.department_id) == (Role.FINANCE, department.pk)
    bob.refresh_from_db()
    assert bob.current_organisation_id == organisation.pk
    with pytest.raises(NotFound):
        join(make_user("carol"), token)


def test_only_the_hash_of_a_token_is_kept(admin: Actor, organisation: Organisation) -> None:
    made, token = invite(admin, offer=Offer())
    row = str(Invitation.objects.filter(pk=made.pk).values().get())
    assert token not in row


def test_a_void_invitation_lets_nobody_in(admin: Actor, organisation: Organisation) -> None:
    def void(change: Any) -> None:
        made, token = invite(admin, offer=Offer(max_uses=5))
        change(made)
        with pytest.raises(NotFound):
            join(make_user(), token)

    void(lambda made: revoke(admin, invitation_id=made.pk))
    void(lambda made: Invitation.objects.filter(pk=made.pk).update(expires_at=db_now() - timedelta(seconds=1)))
    void(lambda made: renew(admin, invitation_id=made.pk))
    with pytest.raises(NotFound):
        find("guessed")
    frozen = OrganisationStatus.FROZEN
    void(lambda made: set_organisation_status(platform(), organisation_id=organisation.pk, status=frozen))


def test_an_inviter_who_lost_the_right_leaves_no_door_open(admin: Actor, organisation: Organisation) -> None:
    make_member(organisation, "other", Role.ADMIN)
    _made, token = invite(admin, offer=Offer())
    change_member(platform(), user_id=admin.person(), place=Place(), organisation_id=organisation.pk)
    with pytest.raises(NotFound):
        join(make_user(), token)


def test_a_member_uses_nothing_up(admin: Actor, organisation: Organisation) -> None:
    made, token = invite(admin, offer=Offer())
    with pytest.raises(Conflict):
        join(make_member(organisation, "bob"), token)
    made.refresh_from_db()
    assert made.uses == 0


def test_an_invitation_by_mail_is_for_its_address_alone(admin: Actor, organisation: Organisation) -> None:
    bob, carol = make_user("bob"), make_user("carol")
    _made, token = invite(admin, offer=Offer(email=bob.email.upper()))
    with pytest.raises(Conflict, match=bob.email):
        join(carol, token)
    join(bob, token)
    assert EmailAddress.objects.filter(user=bob, email=bob.email, verified=True).exists()


@pytest.mark.parametrize("offer", [{"max_uses": 0}, {"max_uses": 1001}, {"days": 0}, {"email": "nobody"}])
def test_an_odd_offer_is_refused(admin: Actor, organisation: Organisation, offer: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        invite(admin, offer=Offer(**offer))


def test_members_invite_nobody_and_strangers_revoke_nothing(admin: Actor, organisation: Organisation) -> None:
    with pytest.raises(Denied):
        invite(actor_of(make_member(organisation, "bob")), offer=Offer())
    made, _token = invite(admin, offer=Offer())
    stranger = actor_of(make_member(make_organisation(balance_fen=0), "charlie", Role.ADMIN))
    with acting(stranger), pytest.raises(NotFound):
        revoke(stranger, invitation_id=made.pk)


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_use_it_as_often_as_it_says() -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=0)
        admin = actor_of(make_member(organisation, role=Role.ADMIN))
        made, token = invite(admin, offer=Offer(max_uses=3))
        people = [make_user() for _each in range(20)]

    def follow(user: User) -> bool:
        try:
            join(user, token)
            return True
        except DomainError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(follow, people)) == 3
    with acting(platform()):
        made.refresh_from_db()
        assert made.uses == 3
        assert Membership.objects.filter(organisation=organisation).count() == 4


def test_a_new_person_registers_on_the_way_though_registration_is_closed(organisation: Organisation) -> None:
    admin = signed_in(make_member(organisation, "admin", Role.ADMIN))
    assert Client().get("/accounts/signup/").status_code == 200
    assert b'name="password1"' not in Client().get("/accounts/signup/").content
    token = link_in(admin.post(NEW, form()).content.decode())
    client = Client()
    assert client.get(f"/join/{token}/").status_code == 200
    given = {"username": "newcomer", "email": "newcomer@example.com", "password1": PASSWORD, "password2": PASSWORD}
    here = f"/join/{token}/"
    response = client.post("/accounts/signup/", {**given, "next": here})
    assert response.status_code == 302, response.content.decode()[-2000:]
    assert response.headers["Location"] == here
    assert not Membership.objects.filter(user__username="newcomer").exists(), "joining takes a click"
    client.post(f"{here}accept/")
    assert Membership.objects.get(user__username="newcomer").organisation == organisation


def test_mail_carries_the_link_and_the_page_does_not(organisation: Organisation) -> None:
    admin = signed_in(make_member(organisation, "admin", Role.ADMIN))
    response = admin.post(NEW, form(how="mail", emails="one@example.com, two@example.com"), follow=True)
    assert {message.to[0] for message in mail.outbox} == {"one@example.com", "two@example.com"}
    assert find(link_in(str(mail.outbox[0].body))).organisation == organisation
    assert link_in(str(mail.outbox[0].body)) not in response.content.decode()
    assert "2 invitations were sent" in response.content.decode()


def test_a_wrong_address_is_said_and_nothing_is_sent(organisation: Organisation) -> None:
    admin = signed_in(make_member(organisation, "admin", Role.ADMIN))
    response = admin.post(NEW, form(how="mail", emails="one@example.com nonsense"))
    assert response.status_code == 422
    assert mail.outbox == []
    assert not Invitation.objects.filter(organisation=organisation).exists()


def test_a_link_that_does_not_work_says_so(organisation: Organisation) -> None:
    response = Client().get("/join/guessed/")
    assert response.status_code == 404
    assert "does not work any more" in response.content.decode()
