"""Where a transfer reads an image from: a registry at an address, or an archive that somebody uploaded."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Protocol

from django.conf import settings

from apps.common.errors import Invalid
from apps.common.sealing import purpose_for, unseal
from apps.registry.choices import TransferProblem as Problem
from apps.registry.models import ImageTransfer
from apps.registry.transfers import archives, arriving, sources
from apps.registry.transfers.addresses import Address
from apps.registry.transfers.archived_images import Contents
from apps.registry.transfers.planning import MIB, Failed, Part, Source
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.oci import registry as oci_registry
from apps.workloads.drivers.local.oci import streams
from apps.workloads.drivers.local.oci.manifest import Blob


class Lost(Exception):
    """It was cancelled, or has ended: stop without a word."""


class Several(Exception):
    """An archive has several images, and nobody has said which is meant."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(len(names))
        self.names = names


@dataclass(frozen=True, slots=True)
class Bytes:
    """Where a blob's bytes lie on this disk. `passing`: in a file of their own, which goes once they are handed on."""

    path: Path
    offset: int = 0
    passing: bool = True


class Reading(Protocol):
    """`told`: called with how many bytes of the blob are here. Each raises Failed, Lost."""

    @property
    def source(self) -> Source: ...

    def top(self) -> Part: ...

    def bring(self, blob: Blob, told: Callable[[int], None], cancelled: threading.Event) -> Bytes: ...


def login_purpose(transfer_id: object) -> str:
    return purpose_for("registry_imagetransfer", transfer_id, "credential")


@dataclass(frozen=True, slots=True)
class ArchiveReading:
    """`transfer`: of an archive that has come."""

    transfer: ImageTransfer
    contents: Contents

    @classmethod
    def of(cls, transfer: ImageTransfer, folder: Path, moving: Callable[[], None]) -> "ArchiveReading":
        most = settings.IMAGE_PULL_RULES.most_mib * MIB
        archive = archives.read(arriving.archive_path(transfer), folder, most, moving)
        return cls(transfer, Contents(archive, most, moving))

    @property
    def source(self) -> Source:
        return Source(self.contents.document, self.contents.document, self.transfer.source)

    def top(self) -> Part:
        """Raises Several, too."""
        images = self.contents.images()
        wanted = self.transfer.image
        if not wanted and len(images) > 1:
            raise Several(list(images))
        digest = images.get(wanted) if wanted else next(iter(images.values()))
        if digest is None:
            raise Failed(Problem.INCOMPLETE, name=wanted)
        return self.source.part(digest)

    def bring(self, blob: Blob, told: Callable[[int], None], cancelled: threading.Event) -> Bytes:
        entry = self.contents.blob(blob.digest)
        if entry.size != blob.size:
            raise Failed(Problem.WRONG_DIGEST, name=blob.digest)
        return Bytes(self.contents.archive.path, entry.offset, passing=False)


@dataclass(frozen=True, slots=True)
class AddressReading:
    """What another registry does wrong becomes a problem with words. `folder`: what was fetched, as far as it came."""

    reference: str
    address: Address
    registry: oci_registry.Registry
    folder: Path

    @classmethod
    def of(cls, transfer: ImageTransfer, folder: Path) -> "AddressReading":
        address = Address.parse(transfer.source)
        hosts = sources.hosts_of(transfer.organisation_id)
        if not sources.is_allowed(address.host, hosts):
            raise Failed(Problem.ADDRESS_REFUSED, host=address.host)
        sealed = transfer.credential
        login = unseal(bytes(sealed), purpose=login_purpose(transfer.pk)).decode() if sealed else ""
        registry = sources.opened(address, login, hosts)
        return cls(transfer.digest or address.reference, address, registry, folder)

    @property
    def source(self) -> Source:
        return Source(self._manifest, self._small_blob, self.address.host)

    def top(self) -> Part:
        return self.source.part(self.reference)

    def bring(self, blob: Blob, told: Callable[[int], None], cancelled: threading.Event) -> Bytes:
        path = self.folder / blob.digest.removeprefix("sha256:")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if Space.of(self.folder).pressure >= Pressure.LOW:
            raise Failed(Problem.DISK_FULL)
        fetched = path.stat().st_size if path.exists() else 0

        def take(size: int) -> None:
            nonlocal fetched
            fetched += size
            told(fetched)

        with self._asking():
            try:
                self.registry.fetch(blob, path, take, cancelled)
                if streams.digest_of(path) != blob.digest:
                    raise oci_registry.Mismatch
            except oci_registry.Mismatch:
                path.unlink(missing_ok=True)  # nothing of it can be gone on with
                raise
        return Bytes(path)

    def _manifest(self, reference: str) -> bytes:
        with self._asking():
            return self.registry.manifest(reference)

    def _small_blob(self, digest: str) -> bytes:
        with self._asking():
            return self.registry.small_blob(digest)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        host = self.address.host
        try:
            yield
        except Invalid as error:  # of a checked connection
            raise Failed(Problem.ADDRESS_REFUSED, host=host) from error
        except oci_registry.Refused as error:
            raise Failed(_REFUSALS.get(error.status, Problem.SOURCE_REFUSES), host=host, status=error.status) from error
        except oci_registry.BadCertificate as error:
            raise Failed(Problem.CERTIFICATE, host=host, reason=str(error)[:200]) from error
        except oci_registry.Unreachable as error:
            raise Failed(Problem.INTERRUPTED, host=host, reason=str(error)[:200]) from error
        except oci_registry.Mismatch as error:
            raise Failed(Problem.DAMAGED, host=host) from error
        except oci_registry.Cancelled as error:
            raise Lost from error


_REFUSALS: dict[int, Problem] = {
    HTTPStatus.NOT_FOUND: Problem.NOT_THERE,
    HTTPStatus.UNAUTHORIZED: Problem.NO_RIGHT,
    HTTPStatus.FORBIDDEN: Problem.NO_RIGHT,
}
