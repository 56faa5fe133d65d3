"""Notify of events in lower layers, which cannot notify themselves: read from the operation log, once per entry.

Accounts and organisations belong to an app that does not know notices. Its log entries are scanned periodically; if the
worker is down for longer than `WINDOW`, older entries are skipped.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation, notify_person, notify_platform
from apps.tenants.models import Membership, PlatformAssignment, User

WINDOW = timedelta(hours=6)


def notify_from_log() -> None:
    """Notify of every entry of the last hours that has a rule here and was not notified yet."""
    for entry in Entry.objects.filter(at__gt=db_now() - WINDOW, action__in=_RULES).order_by("pk"):
        _RULES[entry.action](entry)


def _registered(entry: Entry) -> None:
    """Notify of an organisation that a person created by registering; staff know of those that they create."""
    if entry.actor_id is None or PlatformAssignment.objects.filter(user_id=entry.actor_id).exists():
        return
    notify_platform(
        permission=Permission.PLATFORM_TENANTS_MANAGE,
        kind="organisation.registered",
        data={"organisation_id": entry.target_id, "name": entry.target_label, "by": entry.actor_label},
        dedup=_key(entry),
    )


def _about_account(kind: str) -> Callable[[Entry], None]:
    """Notify a person of what an administrator did to their account."""

    def tell(entry: Entry) -> None:
        user = User.objects.filter(pk=entry.target_id).first()
        if user is not None and user.pk != entry.actor_id:
            notify_person(user=user, kind=kind, data={"by": entry.actor_label}, dedup=_key(entry))

    return tell


def _about_leaving(kind: str) -> Callable[[Entry], None]:
    """Notify the administrators of a person's organisations that the account will be deleted, or stays."""

    def tell(entry: Entry) -> None:
        homes = Membership.objects.filter(user_id=entry.target_id).select_related("user").order_by("organisation_id")
        for member in homes:
            data = {"person": member.user.display_name, "by": entry.actor_label, **entry.after}
            notify_organisation(
                organisation_id=member.organisation_id,
                kind=kind,
                data=data,
                dedup=f"{_key(entry)}:{member.organisation_id}",
                permission=Permission.MEMBERS_MANAGE,
            )

    return tell


def _key(entry: Entry) -> str:
    return f"log:{entry.pk}"


_RULES: Mapping[str, Callable[[Entry], None]] = {
    "organisation.created": _registered,
    "user.second_factor_reset": _about_account("security.second_factor_reset"),
    "user.updated": _about_account("security.account_changed"),
    "user.deletion_asked": _about_leaving("member.leaving"),
    "user.deletion_withdrawn": _about_leaving("member.stays"),
    "user.password_reset": _about_account("security.password_reset"),
}
