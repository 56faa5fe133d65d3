"""What the operation log says and nobody below could tell."""

from datetime import timedelta

import pytest

from apps.audit.models import Entry
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.following import notify_from_log
from apps.notifications.models import Delivery, Notice
from apps.notifications.sweeping import sweep
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation, User
from apps.tenants.services.accounts import reset_password
from apps.tenants.services.organisations import create_organisation
from tests.builders import make_staff, make_user, platform, staff_actor, unique

pytestmark = pytest.mark.django_db


def kinds_of(user: User) -> list[str]:
    return list(Notice.objects.filter(user=user).values_list("kind", flat=True))


def registering(user: User) -> Actor:
    """As registration makes an organisation: the platform's rights under the person's name."""
    rights = frozenset({Permission.PLATFORM_TENANTS_MANAGE})
    return Actor(user_id=user.pk, label="Bob", organisation_id=None, permissions=rights, platform=True)


def test_staff_hear_once_of_an_organisation_that_registered(system: Actor, bob: User) -> None:
    boss, finance = make_staff(PlatformRole.SUPER), make_staff(PlatformRole.FINANCE)
    create_organisation(registering(bob), name=unique("Start-up"))
    for _each in range(2):
        notify_from_log()
    assert kinds_of(boss) == ["organisation.registered"]
    assert kinds_of(finance) == []


def test_what_staff_and_commands_make_is_no_news(system: Actor) -> None:
    boss = make_staff(PlatformRole.SUPER)
    create_organisation(staff_actor(boss), name=unique("Lab"))
    create_organisation(platform(), name=unique("Lab"))
    notify_from_log()
    assert kinds_of(boss) == []


def test_a_person_hears_that_their_password_was_reset(system: Actor, lab: Organisation, bob: User) -> None:
    boss = make_staff(PlatformRole.SUPER)
    reset_password(staff_actor(boss), user_id=bob.pk)
    for _each in range(2):
        notify_from_log()
    assert kinds_of(bob) == ["security.password_reset"]
    assert Delivery.objects.filter(user=bob).count() == 1
    assert Notice.objects.get(user=bob).organisation_id == lab.pk


def test_what_is_long_ago_is_left(system: Actor) -> None:
    loner = make_user("loner")
    Entry.objects.create(
        at=db_now() - timedelta(days=2),
        actor_label="Root",
        channel="web",
        action="user.password_reset",
        target_type="user",
        target_id=str(loner.pk),
        target_label="loner",
    )
    notify_from_log()
    assert kinds_of(loner) == []


def test_old_rows_go_and_young_ones_stay(lab: Organisation, bob: User) -> None:
    with acting(system_actor()):
        long_ago = db_now() - timedelta(days=400)
        old, kept = (Notice.objects.create(organisation=lab, user=bob, kind="test") for _each in range(2))
        Notice.objects.filter(pk=old.pk).update(read_at=long_ago, created_at=long_ago)
        Notice.objects.filter(pk=kept.pk).update(created_at=long_ago)  # never read
        sweep()
        assert list(Notice.objects.values_list("pk", flat=True)) == [kept.pk]
