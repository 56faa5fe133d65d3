"""The actors of a session, also re-read while something that the session opened is still open."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet, Subquery
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from apps.common.access import Realm
from apps.common.actor import Actor, Channel
from apps.common.errors import SignedOut
from apps.tenants import actors, given_passwords, second_factor
from apps.tenants.models import Membership, User


def signed_in_user(user_id: int, session_key: str) -> User:
    """The person of a session that is still valid; raises `SignedOut`. One query.

    Not after signing out, the session's end or its ending from elsewhere, nor for a disabled account; not with a
    session from before a change of the password, which Django keeps until it is used next.
    """
    session = _living_sessions([session_key]).values("session_data")
    user = (
        User.objects.filter(pk=user_id, is_active=True)
        .annotate(session_data=Subquery(session[:1]))
        .exclude(session_data=None)
        .first()
    )
    if user is None:
        raise SignedOut
    _require_proof(user, user.session_data)
    return user


def _living_sessions(keys: Collection[str]) -> QuerySet[Session]:
    return Session.objects.filter(session_key__in=keys, expire_date__gt=Now())


def _require_proof(user: User, session_data: str) -> None:
    """Raise `SignedOut` unless the session is this person's, with their present password."""
    kept = SessionStore().decode(session_data)
    proof = str(kept.get(HASH_SESSION_KEY, ""))
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    if str(kept.get(SESSION_KEY)) != str(user.pk) or not any(constant_time_compare(proof, each) for each in hashes):
        raise SignedOut


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
        people: actors.People | None = None,
        proofs: second_factor.Proofs | None = None,
    ) -> None:
        """`people` and `proofs`: where they are read together with those of others."""
        self.user, self.session_key = user, session_key
        self.channel, self.address = channel, address
        self.organisation_id = organisation_id
        self._built: dict[Realm, Actor] = {}
        self._people, self._proofs = people or actors.People([user.pk]), proofs

    def get(self, realm: Realm) -> Actor:
        """Raises `Denied` where the person has no such actor."""
        if realm not in self._built:
            self._built[realm] = self._build(realm)
        return self._built[realm]

    def memberships(self) -> list[Membership]:
        """The person's, read once: all actors of one request, and its frame, are of the same ones."""
        return self._people.memberships(self.user)

    def _build(self, realm: Realm) -> Actor:
        asked: dict[str, Any] = {"channel": self.channel, "address": self.address}
        match realm:
            case Realm.PLATFORM:
                return actors.platform_actor(self.user, given=self._people.assignments(self.user), **asked)
            case Realm.ORGANISATION:
                return actors.organisation_actor(self.user, self.organisation_id, mine=self.memberships(), **asked)
            case _:
                return actors.personal_actor(self.user, mine=self.memberships(), **asked)

    def admit(self, actor: Actor) -> None:
        given_passwords.admit(self.user)
        second_factor.admit(actor, self._proofs)

    def reloaded(self) -> "SessionActors":
        """The person's present actors, in the organisation in which this began, even if they have switched since."""
        return self._now(signed_in_user(self.user.pk, self.session_key))

    @staticmethod
    def reloaded_together(those: Sequence["SessionActors"]) -> list["SessionActors | SignedOut"]:
        """`reloaded` of each, in two queries for all; three more are asked with the first actor that needs them."""
        user_ids = {each.user.pk for each in those}
        users = User.objects.filter(is_active=True).in_bulk(user_ids)
        sessions = _living_sessions({each.session_key for each in those})
        session_data = dict(sessions.values_list("session_key", "session_data"))
        people, proofs = actors.People(user_ids), second_factor.Proofs(user_ids)

        def present(each: SessionActors) -> SessionActors | SignedOut:
            user, data = users.get(each.user.pk), session_data.get(each.session_key)
            if user is None or data is None:
                return SignedOut()
            try:
                _require_proof(user, data)
            except SignedOut as error:
                return error
            return each._now(user, people, proofs)

        return [present(each) for each in those]

    def _now(
        self, user: User, people: actors.People | None = None, proofs: second_factor.Proofs | None = None
    ) -> "SessionActors":
        began_in = self._built.get(Realm.ORGANISATION)
        return SessionActors(
            user,
            self.session_key,
            channel=self.channel,
            address=self.address,
            organisation_id=began_in.organisation_id if began_in else self.organisation_id,
            people=people,
            proofs=proofs,
        )
