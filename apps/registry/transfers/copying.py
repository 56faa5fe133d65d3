"""One transfer, done in a process that may be killed at any point: whoever comes next goes on.

Layers of an address are fetched into a file each, which goes on where it ended, held to their digests and handed to the
registry piece by piece; those of an archive are read where they lie. What the registry has already is left out.
Manifests follow once all of that is there, and the tag is set last: until then nothing of the image is to be seen.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from apps.common.actor import Actor, Channel
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.registry.choices import TransferProblem as Problem
from apps.registry.choices import TransferStatus
from apps.registry.distribution import pushes, recording
from apps.registry.distribution import selectors as repositories
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.capacity import OverCapacity
from apps.registry.distribution.client import Client, RegistryAway
from apps.registry.distribution.names import RepositoryName
from apps.registry.models import ImageTransfer, ManifestBlob
from apps.registry.transfers import states
from apps.registry.transfers.archives import pieces
from apps.registry.transfers.planning import Failed, Plan, plan
from apps.registry.transfers.reading import AddressReading, ArchiveReading, Bytes, Lost, Reading
from apps.tenants.actors import organisation_actor
from apps.workloads.drivers.local.oci.manifest import Blob

FOLDER = "registry-transfers"
TOLD_EVERY_S = 1.0
PATIENCE_S, PAUSE_S = 180.0, 3.0
"""How long the platform's own registry may be away."""
Result = TypeVar("Result")


def folder_of(transfer_id: UUID) -> Path:
    return Path(settings.PLSTACK_HOME) / FOLDER / str(transfer_id)


@dataclass(slots=True)
class Copy:
    """`run` brings the image of a transfer that has begun. Call it in the platform's scope."""

    transfer: ImageTransfer
    pause_s: float = PAUSE_S
    patience_s: float = PATIENCE_S
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _movement: pushes.Movement = field(default_factory=pushes.Movement)
    _done: int = 0
    _layers: int = 0
    _told_at: float = 0.0

    def run(self) -> str:
        """The digest that the tag leads to. Raises Failed, Lost."""
        actor = self.require_push()
        with Client(self.transfer.owner.username) as client:
            reading, found = self._found()
            for blob in found.blobs:
                self._bring(client, reading, actor, blob)
            self.require_push()
            if self.transfer.status != TransferStatus.FINISHING:
                self._keep(states.finishing(self.transfer))
            self._publish(client, found)
        return found.top.digest

    def require_push(self) -> Actor:
        """Its owner as they are now. Raises Failed where they may not push there any more."""
        transfer = self.transfer
        try:
            actor = organisation_actor(transfer.owner, transfer.organisation_id, channel=Channel.TASK)
        except Denied as error:
            raise Failed(Problem.MAY_NOT_PUSH) from error
        with acting(actor):
            allowed = allowed_actions(actor, RepositoryName.parse(transfer.repository_name))
        if not transfer.owner.is_active or Action.PUSH not in allowed:
            raise Failed(Problem.MAY_NOT_PUSH)
        return actor

    def _reading(self) -> Reading:
        folder = folder_of(self.transfer.pk)
        if self.transfer.is_of_archive:
            return ArchiveReading.of(self.transfer, folder, lambda: self._tell(0))
        return AddressReading.of(self.transfer, folder)

    def _found(self) -> tuple[Reading, Plan]:
        """What is to be copied, and room for it."""
        transfer = self.transfer
        reading = self._reading()
        top = reading.top()
        self._keep(states.pin(transfer, top.digest))
        found = plan(reading.source, top, transfer.platform, settings.IMAGE_PULL_RULES)
        self._keep(states.measure(transfer, total=found.size, layers=found.layers))
        sizes = {blob.digest: blob.size for blob in found.blobs}
        kept = ManifestBlob.objects.filter(organisation_id=transfer.organisation_id, digest__in=sizes)
        added = sum(sizes[digest] for digest in sizes.keys() - set(kept.values_list("digest", flat=True)))
        try:
            self._keep(states.reserve(transfer, added))
        except OverCapacity as error:
            capacity = error.capacity
            numbers = {"added": added, "used": capacity.used + capacity.reserved, "limit": capacity.limit}
            raise Failed(Problem.OVER_CAPACITY, **numbers) from error
        return reading, found

    def _bring(self, client: Client, reading: Reading, actor: Actor, blob: Blob) -> None:
        """Into the registry, unless it is there."""
        name = self.transfer.repository_name
        pushes.note(blob.digest)  # before it is asked for, so that no collection takes it in between
        if not self._patiently(lambda: client.has_blob(name, blob.digest)) and not self._mounted(client, actor, blob):
            found = reading.bring(blob, lambda here: self._tell(self._done + here), self._cancelled)
            self._patiently(lambda: client.put_large_blob(name, blob, self._pieces(found, blob.size)))
            if found.passing:
                found.path.unlink()
        self._done += blob.size
        self._layers += 1
        self._tell(self._done, at_once=True)

    def _mounted(self, client: Client, actor: Actor, blob: Blob) -> bool:
        """From a repository from which its owner may pull: knowing a digest opens no other."""
        with acting(actor):
            readable = repositories.repositories(actor).order_by().values("pk")
            rows = ManifestBlob.objects.filter(digest=blob.digest, manifest__repository__in=readable)
            there = rows.values_list("manifest__repository__name", flat=True).first()
        if there is None or there == self.transfer.repository_name:
            return False
        return self._patiently(lambda: client.mount_blob(self.transfer.repository_name, blob.digest, there))

    def _pieces(self, found: Bytes, size: int) -> Iterator[bytes]:
        sent = 0
        for piece in pieces(found.path, found.offset, size):
            sent += len(piece)
            self._movement.note()
            self._tell(self._done + size if found.passing else self._done + sent)
            yield piece

    def _publish(self, client: Client, found: Plan) -> None:
        name, tag = self.transfer.repository_name, self.transfer.tag
        for child in found.children:
            media_type = child.document.media_type
            self._patiently(lambda c=child, m=media_type: client.put_manifest(name, c.digest, c.body, m))  # type: ignore[misc]
        top = found.top
        self._patiently(lambda: client.put_manifest(name, tag, top.body, top.document.media_type))
        self._patiently(lambda: recording.pushed(client, name, tag, top.digest, self.transfer.owner.username))

    def _tell(self, done: int, *, at_once: bool = False) -> None:
        """Raises Lost once it has ended."""
        now = time.monotonic()
        if not at_once and now - self._told_at < TOLD_EVERY_S:
            return
        self._told_at = now
        self._keep(states.progress(self.transfer, done=done, layers_done=self._layers))

    def _keep(self, ours: bool) -> None:
        if not ours:
            self._cancelled.set()
            raise Lost

    def _patiently(self, call: Callable[[], Result]) -> Result:
        """Our own registry is away for seconds now and then."""
        until = time.monotonic() + self.patience_s
        while True:
            try:
                return call()
            except RegistryAway as error:
                if time.monotonic() > until:
                    raise Failed(Problem.REGISTRY_AWAY) from error
            time.sleep(self.pause_s)
            self._tell(self._done)


def clear(transfer_id: UUID) -> None:
    """What was fetched for it and not handed on."""
    shutil.rmtree(folder_of(transfer_id), ignore_errors=True)
