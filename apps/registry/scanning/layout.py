"""Lays an image out for the scanner, as the OCI Image Layout Specification has it. Nothing of it is unpacked or run.

An index stands for the images that it names: each is laid out beside the others' blobs, one after the other.
"""

import errno
import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from apps.registry.scanning.choices import ScanProblem
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.oci import manifest as oci
from apps.workloads.drivers.local.oci import registry, saved, streams
from apps.workloads.drivers.local.oci.manifest import Blob
from apps.workloads.drivers.local.oci.pull import Job, access_of

AT_ONCE = 3
MIB = 1024 * 1024
MOST_IMAGES = 8
"""Of one index: each is scanned by itself."""
_IMAGES = ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json")
READABLE = 0o644  # for the scanner's account, which owns nothing here
_VERSION = {"imageLayoutVersion": "1.0.0"}


class ScanFailed(Exception):
    """Why there will be no result. `detail`: what a program said about it, for who can mend it."""

    def __init__(self, problem: ScanProblem, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.detail = problem, detail


class Layout:
    """`folder`: empty, and the caller's to remove. `cancelled` ends what is being fetched."""

    def __init__(self, job: Job, folder: Path, cancelled: threading.Event) -> None:
        self._job, self._folder, self._cancelled = job, folder, cancelled
        self._blobs = folder / "blobs" / "sha256"
        self._registry = registry.Registry(access_of(job), job.image.repository.partition("/")[2])

    def images(self) -> Iterator[Path]:
        """For each image under the digest, the folder with it; the next one takes its place. Raises ScanFailed."""
        try:
            self._blobs.mkdir(parents=True)
            for folder in (self._folder, self._blobs.parent, self._blobs):
                folder.chmod(0o755)
            self._write("oci-layout", _VERSION)
            for digest in self._digests():
                self._lay_out(digest)
                yield self._folder
        except registry.Cancelled as error:
            raise ScanFailed(ScanProblem.TIMED_OUT) from error
        except (registry.Refused, registry.Unreachable, registry.Mismatch) as error:
            raise ScanFailed(ScanProblem.IMAGE_AWAY, str(error)) from error
        except oci.Unreadable as error:
            raise ScanFailed(ScanProblem.NOT_AN_IMAGE, str(error)) from error
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            problem = ScanProblem.NO_ROOM if full else ScanProblem.IMAGE_AWAY
            raise ScanFailed(problem, error.strerror or str(error)) from error

    def _digests(self) -> list[str]:
        found = self._document(self._job.image.digest)
        if not oci.is_index(found):
            return [self._job.image.digest]
        entries = found.get("manifests")
        told = [entry for entry in entries if _is_for_linux(entry)] if isinstance(entries, list) else []
        if not told:
            raise ScanFailed(ScanProblem.NOT_AN_IMAGE)
        if len(told) > MOST_IMAGES:
            raise ScanFailed(ScanProblem.TOO_LARGE, f"{len(told)} images in one index")
        return list(dict.fromkeys(oci.blob(entry).digest for entry in told))

    def _lay_out(self, digest: str) -> None:
        about = self._document(digest)
        found, rules = oci.manifest(about), self._job.rules
        kind = about["config"].get("mediaType")
        if kind is not None and kind not in _IMAGES:
            raise ScanFailed(ScanProblem.NOT_AN_IMAGE)
        size = sum(blob.size for blob in found.layers)
        if len(found.layers) > rules.most_layers or size > rules.most_mib * MIB:
            raise ScanFailed(ScanProblem.TOO_LARGE)
        if Space.of(self._folder).pressure >= Pressure.LOW or size > Space.of(self._folder).free // 3:
            raise ScanFailed(ScanProblem.NO_ROOM)
        wanted = {blob.digest: blob for blob in (found.config, *found.layers)}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._fetch, wanted.values()))
        entry = {"mediaType": about.get("mediaType") or oci.MANIFESTS[0], "digest": digest, "size": self._size(digest)}
        index = {"schemaVersion": 2, "mediaType": oci.INDEXES[0], "manifests": [entry]}
        self._write("index.json", index)

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        path = self._folder / name
        path.write_text(json.dumps(document))
        path.chmod(READABLE)

    def _document(self, digest: str) -> Mapping[str, Any]:
        own = saved.blob(self._job.home, self._job.image, digest)
        body = own.read_bytes() if own is not None else self._registry.manifest(digest)
        if oci.digest_of(body) != digest:
            raise registry.Mismatch
        self._path(digest).write_bytes(body)
        self._path(digest).chmod(READABLE)
        return oci.parse(body)

    def _fetch(self, blob: Blob) -> None:
        path = self._path(blob.digest)
        if path.exists():
            return
        own = saved.blob(self._job.home, self._job.image, blob.digest)
        if own is None:
            self._registry.fetch(blob, path, lambda _size: None, self._cancelled)
        else:
            shutil.copyfile(own, path)
        if streams.digest_of(path) != blob.digest:
            raise registry.Mismatch
        path.chmod(READABLE)

    def _size(self, digest: str) -> int:
        return self._path(digest).stat().st_size

    def _path(self, digest: str) -> Path:
        return self._blobs / digest.removeprefix("sha256:")


def _is_for_linux(entry: object) -> bool:
    """Attestations, which stand beside images, are for a system that is called unknown."""
    about = entry.get("platform") if isinstance(entry, dict) else None
    return isinstance(about, dict) and about.get("os") == "linux"
