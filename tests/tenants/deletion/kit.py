"""Asking for the deletion of an account, the end of its term and turns of the loop."""

from django.db.models import F

from apps.common.actor import Actor, system_actor
from apps.common.scoping import acting
from apps.tenants.models import AccountDeletion, User
from apps.tenants.services import deletion as deleting
from apps.tenants.services.erasure import carry_out_due


def ask(actor: Actor, user: User) -> AccountDeletion:
    with acting(actor):
        return deleting.ask(actor, user_id=user.pk)


def end_terms() -> None:
    """As if the terms of all deletions were over."""
    back = 2 * deleting.TERM
    AccountDeletion.objects.update(asked_at=F("asked_at") - back, erase_at=F("erase_at") - back)


def loop() -> int:
    with acting(system_actor()) as actor:
        return carry_out_due(actor)


def again(user: User) -> User:
    return User.objects.get(pk=user.pk)


def erase(actor: Actor, user: User) -> User:
    """Ask, wait and carry out; the person's row afterwards."""
    ask(actor, user)
    end_terms()
    assert loop() == 1
    return again(user)
