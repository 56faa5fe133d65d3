"""Deleting accounts: who may, what is in the way, what happens at once, and taking it back."""

import re
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, DomainError, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.following import notify_from_log
from apps.notifications.models import Notice
from apps.tenants import tokens
from apps.tenants.actors import organisation_actor, personal_actor
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import AccountDeletion, Membership, User
from apps.tenants.services import accounts
from apps.tenants.services import deletion as deleting
from apps.tenants.services.members import leave_organisation
from apps.tenants.tokens import Lifetime, TokenDraft
from apps.workloads.services import stop
from tests.builders import (
    World,
    make_member,
    make_organisation,
    make_staff,
    platform,
    signed_in,
    staff_actor,
    submit_workload,
)
from tests.console.test_recharge_races import all_at_once
from tests.tenants.deletion.kit import again, ask, end_terms, loop

pytestmark = pytest.mark.django_db


def ask_own(user: User) -> AccountDeletion:
    actor = personal_actor(user)
    with acting(actor):
        return deleting.ask_own(actor)


def token_for(world: World) -> str:
    rights = frozenset({Permission.TRAINING_VIEW})
    with acting(world.actor):
        draft = TokenDraft("ci", world.organisation.pk, rights, Lifetime.MONTH)
        return tokens.create(world.actor, draft=draft)[1]


def test_asking_disables_at_once_and_says_until_when(world: World, boss: Actor) -> None:
    there, secret = signed_in(world.alice), token_for(world)
    headers = {"Authorization": f"Bearer {secret}"}
    assert there.get("/account/").status_code == 200
    assert Client().get("/api/v1/me/", headers=headers).status_code == 200
    asked = ask(boss, world.alice)
    assert there.get("/account/").status_code == 302
    assert Client().get("/api/v1/me/", headers=headers).status_code == 401
    assert asked.erase_at - asked.asked_at >= deleting.TERM
    assert again(world.alice).username == world.alice.username


def test_asking_twice_is_asking_once(world: World, boss: Actor) -> None:
    assert ask(boss, world.alice) == ask(boss, world.alice)
    with acting(platform()):
        assert Entry.objects.filter(action="user.deletion_asked").count() == 1


def test_nothing_is_erased_within_the_term(world: World, boss: Actor) -> None:
    ask(boss, world.alice)
    assert loop() == 0
    assert again(world.alice).email == world.alice.email


def test_taken_back_the_account_is_as_it_was(world: World, boss: Actor) -> None:
    secret = token_for(world)
    ask(boss, world.alice)
    with acting(boss):
        deleting.withdraw(boss, user_id=world.alice.pk)
    assert again(world.alice).is_active
    assert Client().get("/api/v1/me/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    end_terms()
    assert loop() == 0
    with acting(boss), pytest.raises(Conflict):
        deleting.withdraw(boss, user_id=world.alice.pk)


def test_taken_back_a_disabled_account_stays_disabled(world: World, boss: Actor) -> None:
    with acting(boss):
        accounts.set_active(boss, user_id=world.alice.pk, active=False)
        deleting.ask(boss, user_id=world.alice.pk)
        deleting.withdraw(boss, user_id=world.alice.pk)
    assert not again(world.alice).is_active


def test_enabling_does_not_undo_it_by_the_back_door(world: World, boss: Actor) -> None:
    ask(boss, world.alice)
    with acting(boss), pytest.raises(Conflict, match="about to be deleted"):
        accounts.set_active(boss, user_id=world.alice.pk, active=True)


def test_running_work_is_in_the_way_and_named(world: World, boss: Actor) -> None:
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(boss):
        assert [line.names for line in deleting.preview(boss, user_id=world.alice.pk).in_the_way] == [("run",)]
    with pytest.raises(Conflict, match="run"):
        ask(boss, world.alice)
    assert again(world.alice).is_active
    with acting(world.actor):
        stop(world.actor, workload)
    ask(boss, world.alice)


def test_the_last_administrator_stays_while_others_belong_to_it(boss: Actor) -> None:
    with acting(platform()):
        lab = make_organisation()
        dora, _bob = make_member(lab, "dora", Role.ADMIN), make_member(lab, "bob")
    with pytest.raises(Conflict, match=re.escape(lab.name)):
        ask(boss, dora)
    with acting(platform()):
        make_member(lab, "ada", Role.ADMIN)
    ask(boss, dora)


def test_staff_do_not_delete_themselves_nor_people_who_may_do_more(world: World, boss: Actor) -> None:
    with acting(platform()):
        business = staff_actor(make_staff(PlatformRole.BUSINESS, "biz"))
        other = make_staff(PlatformRole.SUPER, "other")
        ops = staff_actor(make_staff(PlatformRole.OPS, "ops"))
    with pytest.raises(Conflict, match="your own account"):
        ask(boss, again_of(boss))
    with pytest.raises((Conflict, Denied)):
        ask(business, other)
    with pytest.raises(Denied):
        ask(ops, world.alice)
    with pytest.raises(Conflict, match="staff"):
        ask_own(again_of(boss))
    with pytest.raises(NotFound), acting(boss):
        deleting.ask(boss, user_id=10**9)


def again_of(actor: Actor) -> User:
    return User.objects.get(pk=actor.person())


def test_the_last_super_admin_stays(world: World) -> None:
    """Whoever may manage roles by a role that was defined here is no super admin."""
    with acting(platform()):
        last = make_staff(PlatformRole.SUPER, "last")
        User.objects.filter(platform_assignments__role=PlatformRole.SUPER).exclude(pk=last.pk).update(is_active=False)
        with pytest.raises(Conflict, match="last super admin"):
            deleting.ask(platform(), user_id=last.pk)


def test_people_ask_for_their_own_and_take_it_back_by_the_link(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        ask_own(world.alice)
    letter = mail.outbox[-1]
    assert letter.to == [world.alice.email]
    path = re.search(r"https?://[^/]+(/account/keep/\S+/)", letter.body)
    assert path is not None
    visitor = Client()
    assert world.alice.username in visitor.get(path[1]).content.decode()
    assert not again(world.alice).is_active  # following the link alone takes nothing back
    assert visitor.post(path[1]).status_code == 302
    assert again(world.alice).is_active
    assert visitor.get(path[1]).status_code == 404


def test_the_mail_of_what_staff_asked_has_no_link(
    world: World, boss: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        asked = ask(boss, world.alice)
    assert "/account/keep/" not in mail.outbox[-1].body
    assert deleting.token_of(asked) == ""


def test_the_mail_speaks_the_persons_language(
    world: World, boss: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    User.objects.filter(pk=world.alice.pk).update(last_language="zh-hans")
    with django_capture_on_commit_callbacks(execute=True):
        ask(boss, world.alice)
    assert "账号" in mail.outbox[-1].subject


@pytest.mark.parametrize("token", ["", "x", "eyJ:1:abc"])
def test_a_wrong_link_takes_nothing_back(world: World, token: str) -> None:
    ask_own(world.alice)
    with pytest.raises(NotFound):
        deleting.withdraw_own(token, address=None)


def test_administrators_of_the_organisation_are_told_once(world: World, boss: Actor) -> None:
    ask(boss, world.alice)
    with acting(platform()):
        for _each in range(2):
            notify_from_log()
        told = Notice.objects.filter(kind="member.leaving")
        assert [notice.user.name for notice in told] == ["Dora"]
        assert told[0].data["person"] == "Alice"


@pytest.mark.django_db(transaction=True)
def test_of_two_last_administrators_one_stays() -> None:
    with acting(platform()):
        lab = make_organisation()
        both = [make_member(lab, name, Role.ADMIN) for name in ("ada", "bea")]
        make_member(lab, "bob")
        staff = staff_actor(make_staff(PlatformRole.SUPER))
        second = organisation_actor(both[1], lab.pk)

    def leave() -> str:
        try:
            with acting(second):
                leave_organisation(second, organisation_id=lab.pk)
        except DomainError as error:
            return error.code
        return "done"

    def delete() -> str:
        try:
            ask(staff, both[0])
        except DomainError as error:
            return error.code
        return "done"

    assert sorted(all_at_once([leave, delete])) == ["conflict", "done"]
    with acting(platform()):
        left = Membership.objects.filter(organisation_id=lab.pk, role=Role.ADMIN, user__is_active=True)
        assert left.count() == 1


@pytest.mark.django_db(transaction=True)
def test_asked_many_times_at_once_there_is_one() -> None:
    with acting(platform()):
        alice = make_member(make_organisation(), "alice")
        staff = staff_actor(make_staff(PlatformRole.SUPER))
    answers = all_at_once([partial(ask, staff, alice)] * 6)
    assert len({answer.pk for answer in answers}) == 1
