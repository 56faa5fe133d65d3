"""Telling what happened below this app, where nobody can tell it: read from the operation log, told once per entry.

Accounts and organisations are made by an app that does not know of notices. Its log entries are looked through every
now and then; a worker that stands still for longer than `WINDOW` leaves what happened before that untold.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_person, notify_platform
from apps.tenants.models import PlatformAssignment, User

WINDOW = timedelta(hours=6)


def follow_log() -> None:
    """Tell of every entry of the last hours that has a rule here; those told before are passed over."""
    for entry in Entry.objects.filter(at__gt=db_now() - WINDOW, action__in=_RULES).order_by("pk"):
        _RULES[entry.action](entry)


def _registered(entry: Entry) -> None:
    """An organisation that a person made by registering; what staff make they know of."""
    if entry.actor_id is None or PlatformAssignment.objects.filter(user_id=entry.actor_id).exists():
        return
    notify_platform(
        permission=Permission.PLATFORM_TENANTS_MANAGE,
        kind="organisation.registered",
        data={"organisation_id": entry.target_id, "name": entry.target_label, "by": entry.actor_label},
        dedup=_key(entry),
    )


def _about_account(kind: str) -> Callable[[Entry], None]:
    """What an administrator did to somebody's account; the person is told."""

    def tell(entry: Entry) -> None:
        user = User.objects.filter(pk=entry.target_id).first()
        if user is not None and user.pk != entry.actor_id:
            notify_person(user=user, kind=kind, data={"by": entry.actor_label}, dedup=_key(entry))

    return tell


def _key(entry: Entry) -> str:
    return f"log:{entry.pk}"


_RULES: Mapping[str, Callable[[Entry], None]] = {
    "organisation.created": _registered,
    "user.second_factor_reset": _about_account("security.second_factor_reset"),
    "user.password_reset": _about_account("security.password_reset"),
}
