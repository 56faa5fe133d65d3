"""What people do with shares: give and take back, and on the other side decline and accept again.

Each counts at once: what runs goes on, what waits or would start is refused by `pulling.may_pull`.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_scopes import scopes_disabled

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry.models import ImageRepository
from apps.registry.sharing import rights, telling
from apps.registry.sharing.models import MAX_NOTE, RepositoryShare
from apps.registry.sharing.selectors import received_share, shareable, shares_of
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation

LONGEST = timedelta(days=3 * 366)
MOST = 100
"""Organisations that one repository is shared with."""


@dataclass(frozen=True, slots=True)
class NewShare:
    """`organisation`: the other one's short name, or its name. `until`: the last day; None: until it is taken back."""

    organisation: str
    note: str = ""
    until: date | None = None


def share(actor: Actor, repository_id: UUID, new: NewShare) -> RepositoryShare:
    """Let another organisation's people pull it and start work in it; again, to change the note or the last day.

    Raises `NotFound` for one that is not the actor's to share, `Conflict`, `Invalid` beside the fields.
    """
    actor.require(Permission.IMAGES_USE)
    repository = shareable(actor, repository_id)
    if not rights.is_allowed():
        raise Conflict(_("The platform's administrators do not allow images to be shared with other organisations."))
    receiver, values = _receiver(actor, new.organisation), {"note": _note(new.note), "until": _until(new.until)}
    with transaction.atomic():
        _lock(repository)
        row = shares_of(repository).filter(receiver=receiver).first()
        if row is not None:
            return _changed(actor, row, values)
        if repository.shares.count() >= MOST:
            raise Conflict(_("It is shared with 100 organisations already."), hint=_("Take a share back first."))
        made = RepositoryShare.objects.create(
            repository=repository, receiver=receiver, shared_by_id=actor.person(), **values
        )
        found = shares_of(repository).get(pk=made.pk)
        telling.shared(actor, found)
    return found


def take_back(actor: Actor, repository_id: UUID, share_id: UUID) -> RepositoryShare:
    """From now on nobody of the other organisation pulls it or starts in it. Raises `NotFound`."""
    actor.require(Permission.IMAGES_USE)
    repository = shareable(actor, repository_id)
    with transaction.atomic():
        _lock(repository)
        found = share_of(repository, share_id)
        telling.ended(actor, found, telling.TAKEN_BACK)
        RepositoryShare.objects.filter(pk=found.pk).delete()
    return found


def share_of(repository: ImageRepository, share_id: UUID) -> RepositoryShare:
    """Raises `NotFound`."""
    found: RepositoryShare | None = shares_of(repository).filter(pk=share_id).first()
    if found is None:
        raise NotFound
    return found


def decline(actor: Actor, share_id: UUID) -> RepositoryShare:
    """Nobody of the actor's organisation sees or uses it any more, until somebody accepts it. Raises `NotFound`."""
    return _answer(actor, share_id, declined=True)


def accept(actor: Actor, share_id: UUID) -> RepositoryShare:
    """After it was declined. Raises `NotFound`."""
    return _answer(actor, share_id, declined=False)


def end_all(actor: Actor, repository: ImageRepository) -> None:
    """Say on both sides that the repository is gone; its shares go with its row. Call it as the platform."""
    for each in shares_of(repository):
        telling.ended(actor, each, telling.DELETED)


def _answer(actor: Actor, share_id: UUID, *, declined: bool) -> RepositoryShare:
    actor.require(Permission.IMAGES_MANAGE)
    found = received_share(actor, share_id)
    with transaction.atomic():
        rows = RepositoryShare.objects.filter(pk=found.pk, declined_at__isnull=declined)
        values: dict[str, Any] = {"declined_at": None, "declined_by": None}
        if declined:
            values = {"declined_at": Now(), "declined_by": actor.person()}
        if rows.update(**values):
            (telling.declined if declined else telling.accepted)(actor, found)
    return received_share(actor, share_id)


def _changed(actor: Actor, row: RepositoryShare, values: dict[str, Any]) -> RepositoryShare:
    before = {"note": row.note, "until": row.until}
    if before == values:
        raise Conflict(
            _("It is shared with this organisation already."),
            fields={"organisation": _("It is shared with this organisation already.")},
        )
    RepositoryShare.objects.filter(pk=row.pk).update(**values)
    telling.changed(actor, row, _shown(before), _shown(values))
    return share_of(row.repository, row.pk)


def _shown(values: dict[str, Any]) -> dict[str, str]:
    return {"note": values["note"], "until": values["until"].isoformat() if values["until"] else ""}


def _lock(repository: ImageRepository) -> None:
    """Two who share it at once do so one after the other. Raises `NotFound` where it was deleted meanwhile."""
    if not ImageRepository.objects.select_for_update().filter(pk=repository.pk).exists():
        raise NotFound


def _receiver(actor: Actor, text: str) -> Organisation:
    """One that is frozen is not told from one that does not exist: neither can use it."""
    wanted = " ".join(text.split())
    with scopes_disabled():
        named = Q(slug__iexact=wanted) | Q(name__iexact=wanted)
        rows = Organisation.objects.filter(named, status=OrganisationStatus.ACTIVE)
        # A short name wins over another organisation's name.
        found = next(iter(sorted(rows, key=lambda each: each.slug != wanted.lower())), None)
    if found is None:
        raise Invalid.field("organisation", _("There is no organisation with this name."))
    if found.pk == actor.organisation_id:
        raise Invalid.field("organisation", _("It belongs to your organisation already."))
    return found


def _note(text: str) -> str:
    note = " ".join(text.split())
    if len(note) > MAX_NOTE:
        raise Invalid.field("note", _("Write up to 200 characters."))
    return note


def _until(until: date | None) -> date | None:
    if until is None:
        return None
    today = timezone.localdate(db_now(), timezone.get_default_timezone())
    if not today <= until <= today + LONGEST:
        raise Invalid.field("until", _("Choose a day from today on, within three years."))
    return until
