"""Asking that running work be saved as an image in the registry, and cancelling that."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, DomainError, Invalid
from apps.common.permissions import Permission
from apps.registry.choices import OPEN_SAVINGS, SavingStatus
from apps.registry.distribution.capacity import OverCapacity, capacity_of
from apps.registry.distribution.client import RegistryAway, is_configured
from apps.registry.distribution.names import RepositoryName
from apps.registry.distribution.placing import is_tag, place
from apps.registry.distribution.tags import free_tag
from apps.registry.models import Image, ImageRepository, ImageSaving
from apps.registry.saving import states
from apps.registry.saving.models import MAX_NOTE
from apps.registry.saving.recording import Event, note
from apps.registry.saving.selectors import kept_image, left_to_send, open_sending, saving_of
from apps.workloads import reach
from apps.workloads.models import Workload
from apps.workloads.permissions import may_enter
from apps.workloads.references import Reference
from apps.workloads.selectors import current_attempt


@dataclass(frozen=True, slots=True)
class NewSaving:
    """What a person fills in. `name`: of the repository, below their own namespace or their organisation's.

    `tag` empty: the next number. `key`: the same one asks once.
    """

    name: str
    key: str
    tag: str = ""
    of_organisation: bool = False
    note: str = ""


def save(actor: Actor, workload: Workload, new: NewSaving) -> ImageSaving:
    """Ask for it; it begins within seconds. The same key again gives what it has asked for before.

    Raises `Invalid` beside the fields, `Conflict` (it does not run, is being saved already, its machine cannot),
    `OverCapacity`, `NotFound`.
    """
    actor.require(Permission.IMAGES_USE)
    may_enter(actor, workload)
    if (before := _asked(actor, new.key)) is not None:
        return before
    if not is_configured():
        raise RegistryAway
    attempt = current_attempt(workload)
    if not reach.can_save_image(workload) or attempt is None:
        raise Conflict(_("Its machine cannot save what runs as an image."))
    if _is_being_saved(workload):
        raise _being_saved()
    return _keep(actor, ImageSaving(workload=workload, attempt=attempt, **_asked_for(actor, new)))


def send(actor: Actor, image: Image, new: NewSaving) -> ImageSaving:
    """Ask that an image of the actor's, which only its machine keeps, go into the registry; the row stays as it is.

    Raises as `save`; `Conflict` where no machine keeps it any more, or it is on its way.
    """
    actor.require(Permission.IMAGES_USE)
    image = kept_image(actor, image.pk)
    if (before := _asked(actor, new.key)) is not None:
        return before
    if not is_configured():
        raise RegistryAway
    reach.machine_that_keeps(Reference.parse(image.reference))
    asked = _asked_for(actor, new)
    return _keep(actor, ImageSaving(kept=image, image=image.reference, status=SavingStatus.SENDING, **asked))


def send_all(actor: Actor) -> tuple[list[ImageSaving], dict[str, DomainError]]:
    """All of the actor's that only machines keep and that are in no registry: what is on its way, and by name what is
    not, with why. Each goes to a repository of its own name. Raises `RegistryAway` where there are some.
    """
    actor.require(Permission.IMAGES_USE)
    sent: list[ImageSaving] = []
    refused: dict[str, DomainError] = {}
    left = list(left_to_send(actor))
    if left and not is_configured():
        raise RegistryAway
    for image in left:
        try:
            sent.append(_send_by_its_name(actor, image))
        except DomainError as error:
            refused[image.name] = error
    return sent, refused


def _send_by_its_name(actor: Actor, image: Image) -> ImageSaving:
    """Under the tag that its name has, else the next number. Raises as `send`."""
    name, tag = repository_and_tag(image.name)
    try:
        return send(actor, image, NewSaving(name, uuid4().hex, tag))
    except Invalid as error:
        if "tag" not in error.fields:
            raise
    return send(actor, image, NewSaving(name, uuid4().hex))


def repository_and_tag(name: str) -> tuple[str, str]:
    """What an image's own name comes to: builds call theirs `name:tag`, people what they like."""
    called, _colon, tag = name.partition(":")
    plain = re.sub(r"[^a-z0-9]+", "-", called.lower()).strip("-")
    return plain or "image", tag if is_tag(tag) else ""


def _asked_for(actor: Actor, new: NewSaving) -> dict[str, Any]:
    """Raises `Invalid` beside the fields, `OverCapacity`."""
    repository = _place(actor, new)
    tag = free_tag(repository.text, new.tag.strip())
    capacity = capacity_of(actor.organisation())
    if not capacity.left:
        raise OverCapacity(capacity)
    return {
        "organisation_id": actor.organisation(),
        "owner_id": actor.person(),
        "submit_key": new.key,
        "note": " ".join(new.note.split())[:MAX_NOTE],
        "repository_name": repository.text,
        "is_new": not ImageRepository.objects.filter(name=repository.text).exists(),
        "tag": tag,
    }


def _place(actor: Actor, new: NewSaving) -> RepositoryName:
    try:
        return place(actor, new.name.strip().lower(), of_organisation=new.of_organisation)
    except Denied as error:
        words = _("Only who manages the organisation's images adds to them.")
        raise Invalid.field("of_organisation", words) from error


def _keep(actor: Actor, saving: ImageSaving) -> ImageSaving:
    try:
        with transaction.atomic():
            saving.save(force_insert=True)
            note(actor, saving, Event.ASKED)
    except IntegrityError as error:  # asked twice in the same moment: which of the three rules was it?
        if (before := _asked(actor, saving.submit_key)) is not None:
            return before
        if saving.workload is not None and _is_being_saved(saving.workload):
            raise _being_saved() from error
        if saving.kept is not None and open_sending(saving.kept) is not None:
            raise Conflict(_("It is on its way into the registry already.")) from error
        message = _("Another image is on its way to this name and tag.")
        raise Conflict(message, fields={"tag": message}) from error
    saving.refresh_from_db()
    return saving


def _is_being_saved(workload: Workload) -> bool:
    return ImageSaving.objects.filter(workload=workload, status__in=sorted(OPEN_SAVINGS)).exists()


def _asked(actor: Actor, key: str) -> ImageSaving | None:
    rows = ImageSaving.objects.filter(organisation_id=actor.organisation(), owner_id=actor.person(), submit_key=key)
    found: ImageSaving | None = rows.first()
    return found


def _being_saved() -> Conflict:
    return Conflict(_("It is being saved as an image already."), hint=_("Wait until that has ended, or cancel it."))


def cancel(actor: Actor, saving_id: UUID) -> ImageSaving:
    """It ends within seconds, unless all of it has been sent by then. Raises `NotFound`, `Conflict`."""
    actor.require(Permission.IMAGES_USE)
    saving = saving_of(actor, saving_id)
    with transaction.atomic():
        if states.cancel(saving, actor.person()):
            note(actor, saving, Event.CANCELLED)
        elif not ImageSaving.objects.filter(pk=saving.pk, status__in=sorted(OPEN_SAVINGS)).exists():
            raise Conflict(_("It has ended already."))
    return saving_of(actor, saving_id)
