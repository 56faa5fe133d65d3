"""What the audit log and its owner hear of an image saving."""

from enum import StrEnum
from typing import Any

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel
from apps.notifications.services.notify import notify_user
from apps.registry.models import ImageSaving
from apps.registry.saving.selectors import repository_ids


class Event(StrEnum):
    """Actions of the audit log."""

    ASKED = "image.save_asked"
    CANCELLED = "image.save_cancelled"
    FAILED = "image.save_failed"
    DONE = "image.saved"


def note(actor: Actor, saving: ImageSaving, event: Event, after: dict[str, Any] | None = None) -> None:
    """In the audit log."""
    record(
        actor,
        action=event.value,
        target=Target("image_saving", str(saving.pk), str(saving)),
        organisation_id=saving.organisation_id,
        after={"image" if saving.workload is None else "workload": saving.what, **(after or {})},
    )


def tell_owner(saving: ImageSaving, *, saved: bool) -> None:
    """Once; of what somebody cancelled they need not be told."""
    repository_id = repository_ids([saving]).get(saving.repository_name)
    notify_user(
        organisation_id=saving.organisation_id,
        user_id=saving.owner_id,
        kind="image.saved" if saved else "image.not_saved",
        data={
            "name": saving.what,
            "image": str(saving),
            "saving_id": str(saving.pk),
            "repository_id": str(repository_id) if repository_id else None,
        },
        dedup=f"image-saving-{saving.pk}",
    )


def owner_of(saving: ImageSaving) -> Actor:
    """For the log alone: without any rights."""
    owner = saving.owner
    return Actor(
        user_id=owner.pk,
        label=owner.display_name,
        organisation_id=saving.organisation_id,
        channel=Channel.TASK,
    )
