"""A person's SSH keys: added, removed, and looked up by the SSH front door."""

from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.text import clean_name
from apps.tenants.models import SshKey, User
from apps.tenants.ssh_format import parse

MAX_KEYS = 50
USED_AT_MOST_EVERY = timedelta(minutes=1)


def own_keys(actor: Actor) -> QuerySet[SshKey]:
    """The actor's own keys, newest first."""
    return SshKey.objects.filter(user_id=actor.person())


def keys_of(user: User) -> list[SshKey]:
    """The keys that authenticate this person; none if the account is disabled."""
    return list(SshKey.objects.filter(user=user, user__is_active=True))


def users_with(fingerprint: str) -> list[User]:
    """Everyone active who holds the key `SHA256:…`. Several people may list the same key."""
    return list(User.objects.filter(is_active=True, ssh_keys__fingerprint=fingerprint).order_by("pk"))


def note_use(user_id: int, fingerprint: str) -> None:
    """Record that the key was used to sign in, at most once a minute."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - USED_AT_MOST_EVERY)
    SshKey.objects.filter(stale, user_id=user_id, fingerprint=fingerprint).update(last_used_at=Now())


def add(actor: Actor, *, name: str, public_key: str) -> SshKey:
    """Add a public key for the actor; without a name its comment is the name. Raises `Invalid`, `Conflict`."""
    parsed = parse(public_key)
    called = (clean_name(name) or parsed.comment or parsed.words)[:60]
    if own_keys(actor).count() >= MAX_KEYS:
        raise Conflict(_("You have %(count)s keys already. Remove one first.") % {"count": MAX_KEYS})
    try:
        with transaction.atomic():
            key = SshKey.objects.create(
                user_id=actor.person(), name=called, public_key=parsed.line, fingerprint=parsed.fingerprint
            )
            record(actor, action="ssh_key.added", target=_target(key), after={"fingerprint": key.fingerprint})
    except IntegrityError as error:
        raise Invalid.field("public_key", _("You have this key already.")) from error
    key.refresh_from_db()
    return key


def remove(actor: Actor, *, key_id: UUID) -> SshKey:
    """Remove one of the actor's keys; new connections with it are refused from now on."""
    with transaction.atomic():
        key = own_keys(actor).select_for_update().filter(pk=key_id).first()
        if key is None:
            raise NotFound
        key.delete()
        key.pk = key_id  # Django empties it; the caller still names the key
        record(actor, action="ssh_key.removed", target=_target(key), before={"fingerprint": key.fingerprint})
    return key


def kind_of(key: SshKey) -> str:
    """Ed25519, RSA 4096 … of a stored key."""
    return parse(key.public_key).words


def _target(key: SshKey) -> Target:
    return Target("ssh_key", str(key.pk), key.name)
