"""A person's sessions: list them, end one, end all others, or end all as an administrator."""

import time
from collections.abc import Iterable

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.live import recheck_rights_on_commit
from apps.common.requests import address_of
from apps.tenants.models import User
from apps.tenants.services.accounts import changeable

USED_AT_MOST_EVERY_S = 60
REMEMBERED = 20_000
AGENT_CHARS = 200
# Sessions that this process has noted within the last minute: without it, each request would write.
_noted: dict[str, float] = {}


def note_use(request: HttpRequest) -> None:
    """Remember when, from where and with what the request's session was used, at most once a minute."""
    key, now = str(request.session.session_key), time.monotonic()
    if now - _noted.get(key, -USED_AT_MOST_EVERY_S) < USED_AT_MOST_EVERY_S:
        return
    if len(_noted) >= REMEMBERED:
        _noted.clear()
    _noted[key] = now
    seen = {"last_seen_at": db_now(), "user_agent": request.headers.get("User-Agent", "")[:AGENT_CHARS]}
    if address := address_of(request):
        seen["ip"] = address
    if not UserSession.objects.filter(session_key=key).update(**seen):
        UserSession.objects.create_from_request(request)


def own_sessions(actor: Actor) -> list[UserSession]:
    """The actor's sessions that still let them in, the one used last first."""
    user = User.objects.get(pk=actor.person())
    alive = UserSession.objects.purge_and_list(user)
    return sorted(alive, key=lambda each: each.last_seen_at, reverse=True)


def end(actor: Actor, *, session_id: int) -> None:
    """End one of the actor's own sessions; raises `NotFound` for anybody else's."""
    found = UserSession.objects.filter(user_id=actor.person(), pk=session_id).first()
    if found is None:
        raise NotFound
    _end(actor, actor.person(), actor.label, [found])


def end_others(actor: Actor, *, keep: str | None) -> int:
    """Sign the actor out everywhere but in the session `keep`; returns how many sessions ended."""
    others = UserSession.objects.filter(user_id=actor.person()).exclude(session_key=keep or "")
    return _end(actor, actor.person(), actor.label, others)


def end_all_of(actor: Actor, *, user_id: int) -> int:
    """Sign out somebody else who may do no more than the actor, everywhere; returns how many sessions ended."""
    with transaction.atomic():
        user = changeable(actor, user_id)
        return _end(actor, user.pk, user.username, UserSession.objects.filter(user=user))


def end_every(actor: Actor, user: User) -> int:
    """Sign a person out everywhere, without asking for rights, which the caller has done."""
    return _end(actor, user.pk, user.username, UserSession.objects.filter(user=user))


def _end(actor: Actor, user_id: int, label: str, sessions: Iterable[UserSession]) -> int:
    keys = [each.session_key for each in sessions]
    with transaction.atomic():
        ended = Session.objects.filter(session_key__in=keys).delete()[0]
        UserSession.objects.filter(session_key__in=keys).delete()
        if ended:
            target = Target("user", str(user_id), label)
            record(actor, action="user.sessions_ended", target=target, after={"sessions": ended})
            recheck_rights_on_commit(user_id)
    return ended
