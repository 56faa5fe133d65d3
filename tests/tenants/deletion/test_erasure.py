"""The end of the term: what says who a person was is gone, and what the books and the organisation need is left."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.db import DatabaseError

from apps.audit.models import Entry
from apps.billing.choices import BudgetScope, RequestState
from apps.billing.models import Budget, MeterSession, PackageRequest, Transfer
from apps.billing.requests.services import request_package, set_needs_review
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.models import IdempotentAnswer
from apps.common.scoping import acting
from apps.notifications.choices import Channel, Topic
from apps.notifications.models import Phone, Preference
from apps.notifications.services import notify_user
from apps.registry.models import Image
from apps.tenants import ssh_keys, tokens
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Invitation, Membership, Organisation, PlatformAssignment, User
from apps.tenants.personal_data import erased_rows
from apps.tenants.services import Person, accounts, add_member, assign_platform_role, create_user
from apps.tenants.services import deletion as deleting
from apps.tenants.services.invitations import Offer, invite
from apps.tenants.tokens import Lifetime, TokenDraft
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_organisation,
    make_package,
    platform,
    reload,
    signed_in,
    submit_workload,
)
from tests.secrets.making import make_secret, make_shared
from tests.tenants.deletion.kit import again, ask, end_terms, erase, loop
from tests.tenants.test_second_factor import set_up
from tests.tenants.test_ssh_keys import ed

pytestmark = pytest.mark.django_db


def live_fully(world: World) -> None:
    """A row of Alice's wherever rows are erased with an account."""
    alice, actor = world.alice, world.actor
    signed_in(alice).get("/account/")
    set_up(alice)
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True)
    SocialAccount.objects.create(user=alice, provider="microsoft", uid="7f3")
    IdempotentAnswer.objects.create(user_id=alice.pk, key="k", path="p", request="r")
    Preference.objects.create(user=alice, topic=Topic.MONEY, channel=Channel.EMAIL, on=False)
    Phone.objects.create(user=alice, number="+8613800000000")
    make_secret(world)
    with acting(actor):
        draft = TokenDraft("ci", world.organisation.pk, actor.permissions, Lifetime.MONTH)
        tokens.create(actor, draft=draft)
        ssh_keys.add(actor, name="laptop", public_key=ed())
    with acting(platform()):
        data = {"by": "Root"}
        notify_user(organisation_id=world.organisation.pk, user_id=alice.pk, kind="security.password_reset", data=data)
        Budget.objects.create(
            organisation=world.organisation, name="Alice", scope=BudgetScope.USER, user=alice, limit_fen=100
        )


def test_every_row_that_is_declared_so_is_erased(world: World, boss: Actor) -> None:
    live_fully(world)
    with acting(platform()):
        before = {model._meta.label for model, column in erased_rows() if rows(model, column, world.alice)}
        assert len(before) >= 12
        erase(boss, world.alice)
        assert [model._meta.label for model, column in erased_rows() if rows(model, column, world.alice)] == []


def rows(model: Any, column: str, user: User) -> bool:
    return bool(model._base_manager.filter(**{column: user.pk}).exists())


def test_nothing_in_the_account_says_who_it_was(world: World, boss: Actor) -> None:
    User.objects.filter(pk=world.alice.pk).update(
        phone="+8613800000000", language="en", last_language="en", last_login=db_now()
    )
    user = erase(boss, world.alice)
    assert (user.username, user.name, user.email, user.phone) == (f"deleted-{user.pk}", "", "", "")
    assert (user.language, user.last_language, user.last_login, user.current_organisation_id) == ("", "", None, None)
    assert not user.has_usable_password()
    assert not user.is_active
    assert user.display_name == f"deleted-{user.pk}"


def test_money_and_log_are_left_as_they_were(world: World, boss: Actor) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package)
        money = list(Transfer.objects.order_by("pk").values())
        log = list(Entry.objects.order_by("pk").values())
        erase(boss, world.alice)
        assert list(Transfer.objects.order_by("pk").values()) == money
        assert list(Entry.objects.order_by("pk").values())[: len(log)] == log
        assert MeterSession.objects.get().user.display_name == f"deleted-{world.alice.pk}"
        last = Entry.objects.get(action="user.erased")
        assert world.alice.username not in f"{last.target_label}{last.before}{last.after}"


def test_memberships_and_roles_end_and_are_logged(world: World, boss: Actor) -> None:
    with acting(platform()):
        assign_platform_role(platform(), user=world.alice, role=PlatformRole.OPS)
        erase(boss, world.alice)
        assert not Membership.objects.filter(user=world.alice).exists()
        assert not PlatformAssignment.objects.filter(user=world.alice).exists()
        actions = set(Entry.objects.filter(target_id=str(world.alice.pk)).values_list("action", flat=True))
    assert {"member.removed", "platform_role.withdrawn"} <= actions


def test_the_organisations_secret_that_they_set_stays(world: World, boss: Actor) -> None:
    secret = make_shared(world)
    erase(boss, User.objects.get(pk=secret.created_by_id))
    with acting(platform()):
        assert type(secret).objects.filter(pk=secret.pk).exists()


def test_their_requests_and_invitations_end(world: World, boss: Actor) -> None:
    with acting(platform()):
        wanted = make_package()
        set_needs_review(platform(), package_id=wanted.pk, needs_review=True)
        ada = make_member(world.organisation, "ada", Role.ADMIN)
    admin = actor_of(ada, world.organisation)
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True)
    with acting(admin):
        request_package(admin, package_id=wanted.pk, reason="For the paper.")
        invite(admin, offer=Offer())
    erase(boss, ada)
    with acting(platform()):
        assert PackageRequest.objects.get().state == RequestState.WITHDRAWN
        assert Invitation.objects.get().revoked_at is not None


def test_their_own_images_go_and_shared_ones_stay(world: World, boss: Actor) -> None:
    common = {"description_en": "x", "description_zh": "x", "organisation": world.organisation, "owner": world.alice}
    with acting(platform()):
        own = Image.objects.create(key="own", name="own", **common)
        shared = Image.objects.create(key="shared", name="shared", shared=True, **common)
        erase(boss, world.alice)
        assert not Image.objects.get(pk=own.pk).active
        assert Image.objects.get(pk=shared.pk).active


def test_an_organisation_of_nobody_else_is_frozen(boss: Actor) -> None:
    with acting(platform()):
        own = make_organisation(balance_fen=500)
        ada = make_member(own, "ada", Role.ADMIN)
        kept = [line.names for line in deleting.preview(boss, user_id=ada.pk).kept]
    assert (own.name,) in kept
    erase(boss, ada)
    with acting(platform()):
        assert Organisation.objects.get(pk=own.pk).status == OrganisationStatus.FROZEN


def test_work_that_slipped_in_is_stopped_first(world: World, boss: Actor) -> None:
    """Submitted by a request whose rights had been read before the account was disabled."""
    ask(boss, world.alice)
    with acting(world.actor):
        workload = submit_workload(world)
    end_terms()
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(status=Status.STOPPING)
    assert loop() == 0
    assert not again(world.alice).is_erased
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(status=Status.QUEUED)
    assert loop() == 1
    with acting(platform()):
        assert not reload(workload).is_live


def test_an_erased_account_is_closed_for_good(world: World, boss: Actor) -> None:
    gone = erase(boss, world.alice)
    with acting(boss):
        for act in (
            lambda: accounts.set_active(boss, user_id=gone.pk, active=True),
            lambda: accounts.reset_password(boss, user_id=gone.pk),
            lambda: accounts.correct(boss, user_id=gone.pk, name="Alice", email=""),
            lambda: deleting.withdraw(boss, user_id=gone.pk),
            lambda: add_member(boss, organisation_id=world.organisation.pk, user=gone),
            lambda: assign_platform_role(boss, user=gone, role=PlatformRole.OPS),
        ):
            with pytest.raises(Conflict, match="was deleted"):
                act()
    assert loop() == 0


def test_nobody_else_is_given_the_name(world: World, boss: Actor) -> None:
    erase(boss, world.alice)
    with pytest.raises(Invalid):
        create_user(platform(), person=Person(username=world.alice.username.upper()))
    create_user(platform(), person=Person(username="somebody", email=world.alice.email))


def test_the_person_is_told_at_the_address_they_had(
    world: World, boss: Actor, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        erase(boss, world.alice)
    assert mail.outbox[-1].to == [world.alice.email]
    assert world.alice.username in mail.outbox[-1].body


def test_one_that_fails_does_not_hold_up_the_others(world: World, boss: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
    ask(boss, world.alice)
    ask(boss, bob)
    end_terms()
    real = User.set_unusable_password

    def fails_for_alice(user: User) -> None:
        if user.pk == world.alice.pk:
            raise DatabaseError("gone")
        real(user)

    monkeypatch.setattr(User, "set_unusable_password", fails_for_alice)
    assert loop() == 1
    assert (again(world.alice).is_erased, again(bob).is_erased) == (False, True)
    assert Membership.objects.with_scopes_disabled().filter(user=world.alice).exists()  # nothing half
    monkeypatch.undo()
    assert loop() == 1
