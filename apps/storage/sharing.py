"""Sharing one volume, dataset or model with a person: object permissions of django-guardian in one organisation."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid
from apps.common.permissions import Permission
from apps.notifications.services import notify_user
from apps.storage.choices import Right
from apps.storage.models import Owned, Volume
from apps.tenants.models import Membership, User


def _shares_of(model: type[Owned]) -> Any:
    """The model whose rows are its shares."""
    return model._meta.fields_map["shares"].related_model


@dataclass(frozen=True, slots=True)
class Share:
    """One person and what they may do with the object."""

    user: User
    right: Right


def accessible_rows(actor: Actor, model: type[Owned], right: Right) -> Q:
    """The condition of rows of `model` that are the actor's own, shared with them, or theirs to manage."""
    if actor.platform or actor.may(model.rights.manage_all):
        return Q()
    codename = f"{right.value}_{model._meta.model_name}"
    shared = _shares_of(model).objects.filter(user_id=actor.user_id, permission__codename=codename)
    mine = Q(owner_id=actor.user_id) | Q(pk__in=shared.values("content_object_id"))
    return mine | model.open_to_colleagues() if right is Right.READ else mine


def may_manage(actor: Actor, thing: Owned) -> bool:
    """Whether the actor may rename, resize, share and delete it: the owner, or a manager of everybody's."""
    if actor.platform:
        return actor.may(Permission.PLATFORM_STORAGE_MANAGE)
    own = thing.owner_id == actor.user_id and actor.may(thing.rights.use)
    return own or actor.may(thing.rights.manage_all)


def require_manage(actor: Actor, thing: Owned) -> None:
    """Raise `Denied` unless the actor may manage it."""
    if not may_manage(actor, thing):
        raise Denied(thing.rights.manage_all)


def share(actor: Actor, thing: Owned, *, user_id: int, right: Right) -> None:
    """Give a member of the same organisation the right, in place of what they had."""
    require_manage(actor, thing)
    member = Membership.objects.filter(
        organisation_id=thing.organisation_id, user_id=user_id, user__is_active=True
    ).first()
    if member is None:
        raise Invalid.field("user", _("Choose a member of the organisation."))
    if user_id == thing.owner_id:
        raise Invalid.field("user", _("It belongs to this person already."))
    with transaction.atomic():
        rows, name = _shares_of(type(thing)), thing._meta.model_name
        rows.objects.filter(content_object=thing, user_id=user_id).delete()
        for verb in (Right.READ, Right.WRITE) if right is Right.WRITE else (Right.READ,):
            rows.objects.assign_perm(f"{verb.value}_{name}", member.user, thing)
        _record(actor, thing, "shared", {"with": member.user.username, "right": right.value})
        if isinstance(thing, Volume):
            _tell(actor, thing, user_id)


def _tell(actor: Actor, volume: Volume, user_id: int) -> None:
    data = {"by": actor.label, "name": volume.name, "volume_id": str(volume.pk)}
    notify_user(organisation_id=volume.organisation_id, user_id=user_id, kind="volume.shared", data=data)


def unshare(actor: Actor, thing: Owned, *, user_id: int) -> None:
    """Revoke every right of a person. Running work keeps its mount until it ends; queued or requeued work no longer
    starts with it.
    """
    if user_id != actor.user_id:
        require_manage(actor, thing)
    with transaction.atomic():
        rows = _shares_of(type(thing)).objects.filter(content_object=thing, user_id=user_id)
        names = set(rows.values_list("user__username", flat=True))
        rows.delete()
        if names:
            _record(actor, thing, "unshared", {"with": names.pop()})


def shares(thing: Owned) -> list[Share]:
    """Everyone it is shared with, by name."""
    rows = _shares_of(type(thing)).objects.filter(content_object=thing).select_related("user", "permission")
    found: dict[int, Share] = {}
    for row in rows:
        writes = row.permission.codename.startswith(Right.WRITE) or (
            row.user_id in found and found[row.user_id].right is Right.WRITE
        )
        found[row.user_id] = Share(row.user, Right.WRITE if writes else Right.READ)
    return sorted(found.values(), key=lambda each: each.user.display_name.lower())


def _record(actor: Actor, thing: Owned, verb: str, after: dict[str, str]) -> None:
    kind = str(thing._meta.model_name)
    target = Target(kind, str(thing.pk), thing.name)
    record(actor, action=f"{kind}.{verb}", organisation_id=thing.organisation_id, target=target, after=after)
