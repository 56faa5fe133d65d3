"""Who stands behind a session: as its actors, and again while something that it opened is still open."""

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import Subquery
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import SignedOut
from apps.tenants import actors, second_factor
from apps.tenants.models import User

BUILDERS: dict[Realm, Callable[..., Actor]] = {
    Realm.ORGANISATION: actors.organisation_actor,
    Realm.PLATFORM: actors.platform_actor,
    Realm.SELF: actors.personal_actor,
}


def signed_in_user(user_id: int, session_key: str) -> User:
    """The person, if this session of theirs still lets them in; raises `SignedOut`. One query.

    Not after signing out, the session's end or its ending from elsewhere, nor for a disabled account; not with a
    session from before a change of the password, which Django keeps until it is used next.
    """
    session = Session.objects.filter(session_key=session_key, expire_date__gt=Now()).values("session_data")
    user = (
        User.objects.filter(pk=user_id, is_active=True)
        .annotate(session_data=Subquery(session[:1]))
        .exclude(session_data=None)
        .first()
    )
    if user is None:
        raise SignedOut
    kept = SessionStore().decode(user.session_data)
    proof = str(kept.get(HASH_SESSION_KEY, ""))
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    if str(kept.get(SESSION_KEY)) != str(user_id) or not any(constant_time_compare(proof, each) for each in hashes):
        raise SignedOut
    return user


class SessionActors:
    """The actors of a signed-in person by realm, each built once. `organisation_id` None: the one they work in."""

    def __init__(
        self,
        user: User,
        session_key: str,
        *,
        channel: Channel = Channel.WEB,
        address: str | None = None,
        organisation_id: UUID | None = None,
    ) -> None:
        self.user, self.session_key = user, session_key
        self.channel, self.address = channel, address
        self.organisation_id = organisation_id
        self._built: dict[Realm, Actor] = {}

    def get(self, realm: Realm) -> Actor:
        """Raises `Denied` where the person has no such actor."""
        if realm not in self._built:
            place = (self.organisation_id,) if realm is Realm.ORGANISATION else ()
            self._built[realm] = BUILDERS[realm](self.user, *place, channel=self.channel, address=self.address)
        return self._built[realm]

    def admit(self, actor: Actor) -> None:
        second_factor.admit(actor)

    def again(self) -> "SessionActors":
        """The same person now, in the organisation that this began in: they may work in another one meanwhile."""
        began_in = self._built.get(Realm.ORGANISATION)
        return SessionActors(
            signed_in_user(self.user.pk, self.session_key),
            self.session_key,
            channel=self.channel,
            address=self.address,
            organisation_id=began_in.organisation_id if began_in else self.organisation_id,
        )
