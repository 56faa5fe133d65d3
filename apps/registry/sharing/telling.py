"""What both organisations are told of a share: each has an entry in its own log, and a notice for who it concerns.

An entry in the other organisation's log names the organisation, not the person, who is a stranger there.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation, notify_user
from apps.registry.sharing.models import RepositoryShare
from apps.tenants.models import Organisation

TAKEN_BACK, DELETED = "taken_back", "deleted"


def shared(actor: Actor, share: RepositoryShare) -> None:
    details = {"note": share.note, "until": share.until.isoformat() if share.until else ""}
    _record_both(actor, share, "shared_outside", "share_received", details)
    notify_organisation(
        organisation_id=share.receiver_id,
        kind="image.share_received",
        data={**_named(share), "by": share.repository.organisation.name, **details},
        permission=Permission.IMAGES_MANAGE,
    )


def changed(actor: Actor, share: RepositoryShare, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Its note or its last day; nobody is notified, the page says it."""
    for who, organisation_id, other in _sides(actor, share):
        _record(who, share, "share_changed", organisation_id, other, after, before)


def ended(actor: Actor, share: RepositoryShare, why: str) -> None:
    """`why`: `TAKEN_BACK`, or `DELETED` where the repository is gone."""
    _record_both(actor, share, "share_taken_back", "share_lost", {"why": why})
    if share.declined_at is not None:
        return
    notify_organisation(
        organisation_id=share.receiver_id,
        kind="image.share_ended",
        data={"name": share.repository.name, "by": share.repository.organisation.name, "why": why},
        permission=Permission.IMAGES_MANAGE,
    )


def declined(actor: Actor, share: RepositoryShare) -> None:
    _record_both(actor, share, "share_declined", "share_declined", {})
    repository, kind = share.repository, "image.share_declined"
    data = {**_named(share), "by": share.receiver.name}
    if repository.owner_id is not None:
        notify_user(organisation_id=repository.organisation_id, user_id=repository.owner_id, kind=kind, data=data)
        return
    notify_organisation(
        organisation_id=repository.organisation_id, kind=kind, data=data, permission=Permission.IMAGES_MANAGE
    )


def accepted(actor: Actor, share: RepositoryShare) -> None:
    _record_both(actor, share, "share_accepted", "share_accepted", {})


def _named(share: RepositoryShare) -> dict[str, str]:
    return {"name": share.repository.name, "repository_id": str(share.repository_id)}


def _record_both(
    actor: Actor, share: RepositoryShare, by_owner: str, by_receiver: str, after: Mapping[str, Any]
) -> None:
    for who, organisation_id, other in _sides(actor, share):
        action = by_owner if organisation_id == share.repository.organisation_id else by_receiver
        _record(who, share, action, organisation_id, other, after)


def _sides(actor: Actor, share: RepositoryShare) -> list[tuple[Actor, UUID, Organisation]]:
    """For each log: who acted, as they are known there; whose log; and the organisation on the other side."""
    owner, receiver = share.repository.organisation, share.receiver
    return [
        (_as_seen_by(actor, owner, receiver), owner.pk, receiver),
        (_as_seen_by(actor, receiver, owner), receiver.pk, owner),
    ]


def _as_seen_by(actor: Actor, reader: Organisation, other: Organisation) -> Actor:
    if actor.organisation_id == reader.pk or actor.platform:
        return actor
    return Actor(user_id=None, label=other.name, organisation_id=reader.pk, channel=actor.channel)


def _record(
    who: Actor,
    share: RepositoryShare,
    action: str,
    organisation_id: UUID,
    other: Organisation,
    after: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
) -> None:
    target = Target("image_repository", str(share.repository_id), share.repository.name)
    values = {"organisation": other.slug, **after}
    record(who, action=f"image.{action}", target=target, organisation_id=organisation_id, before=before, after=values)
