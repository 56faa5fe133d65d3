"""The loop that brings images: what is open is begun, gone on with after a death, and told of when it ends."""

import errno
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel
from apps.registry.choices import TransferProblem as Problem
from apps.registry.choices import TransferStatus
from apps.registry.models import ImageTransfer
from apps.registry.transfers import arriving, copying, selectors, states
from apps.registry.transfers.planning import Failed
from apps.registry.transfers.reading import Lost, Several

DEADLINE_H = 12
EVERY_S = 2.0
SLOTS = 4


class Event(StrEnum):
    """What the audit log hears of a transfer."""

    ASKED = "asked"
    CHOSEN = "chosen"
    CANCELLED = "cancelled"
    FAILED = "failed"
    DONE = "done"


def due() -> Iterator[tuple[UUID, UUID, int]]:
    """Transfer, organisation and owner of what is to be worked on. Clears up after what has ended.

    Call in the platform's scope.
    """
    arriving.take_complete()
    for transfer in arriving.left_alone():
        fail(transfer, Failed(Problem.LEFT_ALONE, hours=arriving.KEPT_H))
    waiting = list(selectors.due().values_list("pk", "organisation_id", "owner_id")[:200])
    _clear_up()
    yield from waiting


def advance(transfer_id: UUID) -> None:
    """Bring it, in a process of its own and in the platform's scope. No effect where it has ended."""
    transfer = ImageTransfer.objects.select_related("owner", "archive").get(pk=transfer_id)
    if not states.begin(transfer):
        return
    if transfer.status == TransferStatus.QUEUED:
        transfer.status = TransferStatus.RUNNING
    try:
        _bring(transfer)
    except Lost:
        pass
    except Several as several:
        states.ask_which(transfer, several.names)
    except Failed as failure:
        fail(transfer, failure)
    copying.clear(transfer.pk)


def _bring(transfer: ImageTransfer) -> None:
    """Raises Failed, Lost, Several; anything else ends the process, and another begins it again."""
    if transfer.tries >= states.MOST_TRIES:
        raise Failed(Problem.GAVE_UP, count=transfer.tries)
    try:
        digest = copying.Copy(transfer).run()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Failed(Problem.DISK_FULL) from error
        raise
    with transaction.atomic():
        if states.succeed(transfer):
            note(owner_of(transfer), transfer, Event.DONE, {"digest": digest})


def give_up(transfer_id: UUID) -> None:
    """Its process was killed at the deadline."""
    transfer = ImageTransfer.objects.select_related("owner").get(pk=transfer_id)
    fail(transfer, Failed(Problem.TOO_SLOW, hours=DEADLINE_H))


def fail(transfer: ImageTransfer, failure: Failed) -> None:
    with transaction.atomic():
        if states.fail(transfer, failure.problem, dict(failure.params)):
            note(owner_of(transfer), transfer, Event.FAILED, {"problem": failure.problem.value})


def note(actor: Actor, transfer: ImageTransfer, event: Event, after: dict[str, Any] | None = None) -> None:
    """In the audit log."""
    did, doing = ("image.uploaded", "image.upload") if transfer.is_of_archive else ("image.pulled", "image.pull")
    record(
        actor,
        action=did if event == Event.DONE else f"{doing}_{event}",
        target=Target("image_transfer", str(transfer.pk), str(transfer)),
        organisation_id=transfer.organisation_id,
        after={"source": transfer.source, **(after or {})},
    )


def owner_of(transfer: ImageTransfer) -> Actor:
    """For the log alone: without any rights."""
    owner = transfer.owner
    return Actor(
        user_id=owner.pk,
        label=owner.display_name,
        organisation_id=transfer.organisation_id,
        channel=Channel.TASK,
    )


def _clear_up() -> None:
    arriving.clear_up()
    folder = Path(settings.PLSTACK_HOME) / copying.FOLDER
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if names:
        kept = {str(pk) for pk in selectors.due().filter(pk__in=names).values_list("pk", flat=True)}
        for name in names - kept:
            copying.clear(UUID(name))
