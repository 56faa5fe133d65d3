"""Where a person is signed in."""

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now


def end_others(actor: Actor, *, keep: str | None) -> int:
    """Sign the actor out everywhere but in the session `keep`; the number of sessions that ended.

    Sessions do not say whose they are without being opened, so all that are alive are looked at: seconds at a hundred
    thousand of them, for something that one does after losing a telephone.
    """
    mine = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=db_now()).iterator()
        if session.session_key != keep and session.get_decoded().get(SESSION_KEY) == str(actor.user_id)
    ]
    with transaction.atomic():
        ended: int = Session.objects.filter(session_key__in=mine).delete()[0]
        if ended:
            record(
                actor,
                action="user.sessions_ended",
                target=Target("user", str(actor.user_id), actor.label),
                after={"sessions": ended},
            )
    return ended
