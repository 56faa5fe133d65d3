"""Deleting accounts: asked for here, taken back within a term, then carried out by `erasure`.

From the moment it is asked nobody signs in with the account and nothing new starts in its name.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel, system_actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.live import recheck_rights_on_commit
from apps.common.scoping import acting
from apps.tenants import letters, quotas, sessions
from apps.tenants.models import AccountDeletion, Membership, PlatformAssignment, User
from apps.tenants.personal_data import Line, declared
from apps.tenants.services.accounts import changeable, require_changeable, require_remaining_super_admin
from apps.tenants.services.members import is_last_admin

TERM = timedelta(days=14)
NAMED = 5
_SALT = "account-deletion"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a confirmation shows: what prevents the deletion, what is lost at `erase_at`, and what stays."""

    user: User
    in_the_way: list[Line]
    lost: list[Line]
    kept: list[Line]
    erase_at: datetime


def preview(actor: Actor, *, user_id: int) -> Preview:
    """For staff. Raises what `ask` would raise, but for what is in the way, which it names."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound
    require_changeable(actor, user)
    return _preview(user)


def preview_own(actor: Actor) -> Preview:
    """For one's own account."""
    return _preview(User.objects.get(pk=actor.person()))


def _preview(user: User) -> Preview:
    with acting(system_actor()):
        rules = declared()
        return Preview(
            user,
            in_the_way=[line for each in rules for line in each.in_the_way(user)] + _sole_duties(user),
            lost=[line for each in rules for line in each.lost(user)],
            kept=[line for each in rules for line in each.kept(user)],
            erase_at=db_now() + TERM,
        )


def open_deletion(user_id: int) -> AccountDeletion | None:
    """The deletion that was asked for, or carried out; None where it was taken back or never asked."""
    return AccountDeletion.objects.filter(user_id=user_id, withdrawn_at=None).select_related("asked_by").first()


def ask(actor: Actor, *, user_id: int) -> AccountDeletion:
    """Delete somebody's account after `TERM`; asked again, nothing changes.

    Raises `NotFound`, and `Conflict` for oneself, for people who may do more than the actor, for the last administrator
    of an organisation or of the platform, and while anything runs or waits in the person's name.
    """
    with transaction.atomic(), acting(system_actor()):
        _lock_organisations(user_id)
        return _begin(actor, changeable(actor, user_id))


def ask_own(actor: Actor) -> AccountDeletion:
    """Delete one's own account after `TERM`. Raises `Conflict` as `ask`, and for the platform's staff."""
    with transaction.atomic(), acting(system_actor()):
        _lock_organisations(actor.person())
        user = User.objects.select_for_update().get(pk=actor.person())
        if PlatformAssignment.objects.filter(user=user).exists():
            raise Conflict(_("You belong to the platform's staff."), hint=_("Ask another administrator to delete it."))
        return _begin(actor, user)


def _lock_organisations(user_id: int) -> None:
    """Before the person's own row, as everybody else does; two administrators who leave at once see each other."""
    homes = Membership.objects.with_scopes_disabled().filter(user_id=user_id)
    for organisation_id in sorted(homes.values_list("organisation_id", flat=True)):
        quotas.lock(organisation_id)


def _begin(actor: Actor, user: User) -> AccountDeletion:
    """Of a locked row: whoever submits work in this person's name waits for this, and then it does not start."""
    if found := open_deletion(user.pk):
        return found
    require_remaining_super_admin(user)
    found_in_the_way = [line for each in declared() for line in each.in_the_way(user)] + _sole_duties(user)
    if found_in_the_way:
        raise Conflict(_said(found_in_the_way), hint=_("End that first, then delete the account."))
    now = db_now()
    deletion = AccountDeletion.objects.create(
        user=user, asked_by_id=actor.user_id, asked_at=now, erase_at=now + TERM, was_active=user.is_active
    )
    user.is_active = False
    user.save(update_fields=["is_active"])
    sessions.end_every(actor, user)
    record(
        actor,
        action="user.deletion_asked",
        target=Target("user", str(user.pk), user.username),
        after={"erase_at": deletion.erase_at.isoformat()},
    )
    recheck_rights_on_commit(user.pk)
    token = token_of(deletion)
    letters.send_on_commit(
        letters.letter_to(user, letters.About.DELETION_ASKED),
        erase_at=deletion.erase_at,
        path=reverse("account:deletion_withdraw", args=[token]) if token else "",
    )
    return deletion


def _sole_duties(user: User) -> list[Line]:
    """Organisations that others belong to and that would be left without an administrator."""
    mine = Membership.objects.with_scopes_disabled().filter(user=user).select_related("organisation")
    return [
        Line(_("The last administrator of an organisation"), (member.organisation.name,))
        for member in mine.order_by("organisation__name")
        if is_last_admin(member) and not is_only_member(member)
    ]


def is_only_member(member: Membership) -> bool:
    others = Membership.objects.with_scopes_disabled().filter(organisation_id=member.organisation_id)
    return not others.exclude(pk=member.pk).exists()


def _said(lines: Iterable[Line]) -> str:
    return " ".join(said(line) + "." for line in lines)


def said(line: Line) -> str:
    """A line in one sentence: "2 runs: train, eval"."""
    names = ", ".join(line.names[:NAMED]) + (" …" if len(line.names) > NAMED else "")
    return f"{line.text}: {names}" if names else str(line.text)


def withdraw(actor: Actor, *, user_id: int) -> User:
    """Take it back: the account is as usable as it was before. Raises `Conflict` once it has been carried out."""
    with transaction.atomic():
        return _withdraw(actor, changeable(actor, user_id))


def withdraw_own(token: str, *, address: str | None) -> User:
    """By the link in the mail, for who asked for it themselves. Raises `NotFound` for a link that does not work."""
    deletion = by_token(token)
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=deletion.user_id)
        actor = Actor(user.pk, user.display_name, None, channel=Channel.WEB, address=address)
        with suppress(Conflict):
            return _withdraw(actor, user)
    raise NotFound


def _withdraw(actor: Actor, user: User) -> User:
    deletion = AccountDeletion.objects.select_for_update().filter(user=user, withdrawn_at=None, erased_at=None).first()
    if deletion is None:
        raise Conflict(_("This account is not about to be deleted."))
    deletion.withdrawn_at = db_now()
    deletion.save(update_fields=["withdrawn_at"])
    user.is_active = deletion.was_active
    user.save(update_fields=["is_active"])
    record(actor, action="user.deletion_withdrawn", target=Target("user", str(user.pk), user.username))
    letters.send_on_commit(letters.letter_to(user, letters.About.DELETION_WITHDRAWN))
    return user


def token_of(deletion: AccountDeletion) -> str:
    """For the link in the mail; empty where somebody else asked: they alone take it back."""
    return signing.dumps(str(deletion.pk), salt=_SALT) if deletion.by_themselves else ""


def by_token(token: str) -> AccountDeletion:
    """The deletion that the link takes back. Raises `NotFound`."""
    try:
        pk = signing.loads(token, salt=_SALT)
    except signing.BadSignature as error:
        raise NotFound from error
    rows = AccountDeletion.objects.filter(pk=pk, withdrawn_at=None, erased_at=None).select_related("user")
    found = rows.first()
    if found is None:
        raise NotFound
    return found
