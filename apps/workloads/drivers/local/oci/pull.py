"""Fetches and unpacks one image: a process of its own, so that killing it ends all of it. Standard library only.

Reads one JSON object, `Job`, and answers with lines of JSON: `{"said": …, "fraction": …}` on the way, `{"failed": …}`
or `{"done": true}` in the end. Killed at any point it leaves a draft that nobody uses, and blobs with which the next
goes on.
"""

import errno
import json
import os
import resource
import signal
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import PullRules, Reference
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.linux import PR_SET_PDEATHSIG, prctl, remove_tree
from apps.workloads.drivers.local.oci import layers, manifest, registry, saved, streams
from apps.workloads.drivers.local.oci.manifest import Blob, ImageConfig, Manifest
from apps.workloads.drivers.local.oci.store import ROOT, Store
from apps.workloads.drivers.said import Code, Said

AT_ONCE = 3
LOOK_S = 0.25
MIB = 1024 * 1024
MEMORY_BYTES = 4 * 1024 * MIB

Tell = Callable[[Said, float | None], None]


class PullFailed(Exception):
    """Why there will be no such image here."""

    def __init__(self, code: Code, **params: str | int) -> None:
        super().__init__(code)
        self.said = Said(code, params)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be fetched, and where to. `bearer`: a token of its registry for this one, "" for none."""

    image: Reference
    home: Path
    rules: PullRules
    certificates: str = ""
    bearer: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        return self.image.repository.partition("/")[0]


def main() -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.umask(0o022)
    fields = json.loads(sys.stdin.readline())
    rules = PullRules(**{**fields["rules"], "plain_http": tuple(fields["rules"]["plain_http"])})
    job = Job(Reference(**fields["image"]), Path(fields["home"]), rules, fields["certificates"], fields["bearer"])
    try:
        Pull(job, lambda said, fraction: _say({"said": said.as_json(), "fraction": fraction})).run()
    except PullFailed as failure:
        _say({"failed": failure.said.as_json()})
    else:
        _say({"done": True})


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


class Pull:
    """One image onto one machine; no effect where it is there. `tell`: what it is doing."""

    def __init__(self, job: Job, tell: Tell) -> None:
        self._job, self._tell = job, tell
        self._image = job.image
        self._name = job.image.name
        self._store = Store(job.home)
        self._registry: registry.Registry
        self._fetched = self._unpacked = 0
        self._documents: list[bytes] = []
        self._counting = threading.Lock()

    def run(self) -> None:
        """Raises PullFailed."""
        try:
            lock = self._wait()
            try:
                if not self._store.has(self._image):
                    self._make()
            finally:
                os.close(lock)
            self._store.sweep()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise PullFailed(Code.IMAGE_NO_ROOM, image=self._name) from error
            raise PullFailed(Code.PULL_FAILED, image=self._name, error=error.strerror or str(error)) from error
        except MemoryError as error:
            raise PullFailed(Code.PULL_FAILED, image=self._name, error="out of memory") from error

    def platforms(self) -> tuple[str, ...]:
        """The architectures under Linux that the image says that it is for. Fetches no layer. Raises PullFailed."""
        self._registry = registry.Registry(access_of(self._job), self._image.repository.partition("/")[2])
        try:
            document = self._document(self._image.digest, is_manifest=True)
            if manifest.is_index(document):
                return manifest.platforms(document)
            config = manifest.manifest(document).config
            return manifest.platform_of(self._document(config.digest, is_manifest=False))
        except manifest.Unreadable as error:
            raise PullFailed(Code.IMAGE_UNREADABLE, image=self._name, error=str(error)) from error

    def _wait(self) -> int:
        while (lock := self._store.try_to_make(self._image)) is None:
            self._tell(Said(Code.WAITING_FOR_PULL, {"image": self._name}), None)
            time.sleep(LOOK_S)
        return lock

    def _make(self) -> None:
        draft = self._store.draft(self._image)
        remove_tree(draft)
        self._check_room()
        self._registry = registry.Registry(access_of(self._job), self._image.repository.partition("/")[2])
        try:
            found, config = self._described()
            self._fetch(found.layers)
            draft.mkdir(mode=0o755)
            size, files = self._unpack(found.layers, draft)
            self._store.finish(self._image, replace(config, size=size, files=files), self._documents[-2:])
        except (PullFailed, OSError):
            remove_tree(draft)
            raise
        self._store.make_room(self._job.rules.cache_mib)

    def _check_room(self) -> None:
        if Space.of(self._store.folder).pressure >= Pressure.LOW:
            raise PullFailed(Code.IMAGE_NO_ROOM, image=self._name)

    def _described(self) -> tuple[Manifest, ImageConfig]:
        """Manifest and configuration, each as its digest says, and for this machine."""
        architecture = manifest.machine_architecture()
        try:
            document = self._document(self._image.digest, is_manifest=True)
            if manifest.is_index(document):
                document = self._document(manifest.choose(document, architecture).digest, is_manifest=True)
            found = manifest.manifest(document)
            config = manifest.config(self._document(found.config.digest, is_manifest=False), architecture)
        except manifest.OtherMachine as other:
            names = {"offered": other.offered, "wanted": f"linux/{architecture}"}
            raise PullFailed(Code.IMAGE_OTHER_MACHINE, image=self._name, **names) from other
        except manifest.Unreadable as error:
            raise PullFailed(Code.IMAGE_UNREADABLE, image=self._name, error=str(error)) from error
        rules = self._job.rules
        if len(found.layers) > rules.most_layers:
            most = {"count": len(found.layers), "most": rules.most_layers}
            raise PullFailed(Code.IMAGE_TOO_MANY_LAYERS, image=self._name, **most)
        if sum(blob.size for blob in found.layers) > rules.most_mib * MIB:
            raise self._too_large()
        return found, config

    def _document(self, digest: str, *, is_manifest: bool) -> Mapping[str, Any]:
        own = saved.blob(self._job.home, self._image, digest)
        if own is not None:
            body = own.read_bytes()
        else:
            with self._asking():
                body = self._registry.manifest(digest) if is_manifest else self._registry.small_blob(digest)
        self._documents.append(body)
        if manifest.digest_of(body) != digest:
            raise PullFailed(Code.IMAGE_DAMAGED, image=self._name)
        return manifest.parse(body)

    def _fetch(self, blobs: Sequence[Blob]) -> None:
        """Several at once. What a process before this one fetched of it is not fetched again."""
        folder = self._store.blobs(self._image)
        folder.mkdir(mode=0o700, exist_ok=True)
        wanted = {blob.digest: blob for blob in blobs}
        total, cancelled = sum(blob.size for blob in wanted.values()), threading.Event()
        with self._asking(), ThreadPoolExecutor(AT_ONCE) as pool:
            futures = [pool.submit(self._fetch_one, blob, folder, cancelled) for blob in wanted.values()]
            try:
                while wait(futures, LOOK_S, FIRST_EXCEPTION).not_done and not _first_error(futures):
                    said = Said(Code.PULLING, {"image": self._name, "size": _megabytes(total)})
                    self._tell(said, min(1.0, self._fetched / total) if total else None)
            finally:
                cancelled.set()
            if (error := _first_error(futures)) is not None:
                raise error

    def _fetch_one(self, blob: Blob, folder: Path, cancelled: threading.Event) -> None:
        path = _blob_path(folder, blob)
        if path.exists():
            self._took(path.stat().st_size)
        own = saved.blob(self._job.home, self._image, blob.digest)
        try:
            if own is None:
                self._registry.fetch(blob, path, self._took, cancelled)
            elif not path.exists():
                os.link(own, path)
            if streams.digest_of(path) != blob.digest:
                raise registry.Mismatch
        except registry.Mismatch:
            path.unlink(missing_ok=True)  # nothing of it can be gone on with
            raise

    def _took(self, size: int) -> None:
        with self._counting:
            self._fetched += size

    def _unpack(self, blobs: Sequence[Blob], draft: Path) -> tuple[int, int]:
        """How many bytes and files it has."""
        folder = self._store.blobs(self._image)
        try:
            with layers.Tree(draft / ROOT, self._job.rules.most_files) as tree:
                for number, blob in enumerate(blobs, 1):
                    said = Said(Code.UNPACKING, {"image": self._name, "number": number, "count": len(blobs)})
                    self._tell(said, None)
                    self._check_room()
                    with streams.opened(_blob_path(folder, blob)) as stream:
                        tree.apply(streams.Forward(stream, self._count))
                return tree.size, tree.files
        except layers.Hostile as error:
            raise PullFailed(Code.IMAGE_HOSTILE, image=self._name, what=str(error)) from error
        except layers.TooManyFiles as error:
            raise PullFailed(Code.IMAGE_TOO_MANY_FILES, image=self._name, count=self._job.rules.most_files) from error
        except streams.TooLarge as error:
            raise self._too_large() from error
        except streams.NoZstd as error:
            raise PullFailed(Code.IMAGE_NEEDS_ZSTD, image=self._name) from error
        except (tarfile.TarError, streams.Damaged, ValueError, OverflowError) as error:
            raise PullFailed(Code.IMAGE_UNREADABLE, image=self._name, error=str(error)[:200]) from error

    def _count(self, size: int) -> None:
        self._unpacked += size
        if self._unpacked > self._job.rules.most_mib * MIB:
            raise streams.TooLarge

    def _too_large(self) -> PullFailed:
        return PullFailed(Code.IMAGE_TOO_LARGE, image=self._name, limit_mib=self._job.rules.most_mib)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What a registry does wrong, in words."""
        host = self._job.host
        try:
            yield
        except registry.Refused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise PullFailed(Code.IMAGE_NOT_THERE, image=self._name) from error
            raise PullFailed(Code.REGISTRY_REFUSES, host=host, image=self._name, status=error.status) from error
        except registry.Unreachable as error:
            raise PullFailed(Code.REGISTRY_UNREACHABLE, host=host, error=str(error)[:200]) from error
        except registry.Mismatch as error:
            raise PullFailed(Code.IMAGE_DAMAGED, image=self._name) from error


def access_of(job: Job) -> registry.Access:
    """How the image's registry is reached. Raises OSError."""
    try:
        basic = registry.basic_of(registry.auth_file(job.home), job.host)
    except ValueError as error:
        raise OSError(errno.EINVAL, "the file with the registries' credentials cannot be read") from error
    return registry.Access(job.host, job.host in job.rules.plain_http, job.certificates, basic, job.bearer)


def _first_error(futures: Sequence["Future[None]"]) -> BaseException | None:
    return next((found for future in futures if future.done() and (found := future.exception())), None)


def _blob_path(folder: Path, blob: Blob) -> Path:
    return folder / blob.digest.removeprefix("sha256:")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
