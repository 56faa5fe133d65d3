"""The pushing half of the OCI Distribution Specification, and what sends an image that this machine has saved.

A process of its own, as in `pull`: reads one `Job` and keeps `state.json` beside the image. Killed at any point, the
next one goes on with what the registry does not have yet. Standard library only.
"""

import http.client
import json
import os
import sys
import urllib.error
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

from apps.workloads.drivers.base import PullRules, Reference
from apps.workloads.drivers.local.linux import remove_tree, write_atomic
from apps.workloads.drivers.local.oci import manifest, registry, saved, streams
from apps.workloads.drivers.local.oci.manifest import Blob
from apps.workloads.drivers.said import Code, Said

MOST_ANSWER = 64 * 1024
TELL_BYTES = 4 * 1024 * 1024
DONE = "done"


@dataclass(frozen=True, slots=True)
class Job:
    """`image`: saved, by the repository of its base. `target`: `<host>/<repository>`. `bearer`: opens both."""

    image: Reference
    target: str
    tag: str
    home: Path
    rules: PullRules
    certificates: str = ""
    bearer: str = field(default="", repr=False)


class Refused(Exception):
    """The registry takes nothing of it, or not this. `message`: its own words, for people."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or f"it answers {status}")
        self.status, self.message = status, message


class Withdrawn(Exception):
    """Nobody wants it sent any more."""


class Target(registry.Registry):
    """One repository that is pushed to."""

    def has(self, digest: str) -> bool:
        answer = self._ask("HEAD", f"{self._base}/blobs/{digest}")
        return answer.status == HTTPStatus.OK

    def mount(self, digest: str, source: str) -> bool:
        """Take the blob from another repository of this registry, without sending it. Whether that worked."""
        query = urllib.parse.urlencode({"mount": digest, "from": source})
        answer = self._ask("POST", f"{self._base}/blobs/uploads/?{query}")
        return answer.status == HTTPStatus.CREATED

    def send(self, blob: Blob, path: Path, took: Callable[[int], None]) -> None:
        """Raises Refused, `registry.Unreachable`, OSError."""
        begun = self._ask("POST", f"{self._base}/blobs/uploads/")
        place = urllib.parse.urljoin(f"{self._base}/", begun.headers.get("Location", ""))
        mark = "&" if urllib.parse.urlsplit(place).query else "?"
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        with open(path, "rb") as file:
            self._ask("PUT", f"{place}{mark}digest={blob.digest}", headers, _Counted(file, took))

    def put_manifest(self, tag: str, body: bytes, kind: str) -> None:
        self._ask("PUT", f"{self._base}/manifests/{tag}", {"Content-Type": kind}, body)

    def _ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Any = None
    ) -> http.client.HTTPResponse | urllib.error.HTTPError:
        """404 is an answer to HEAD; all else that is no success raises."""
        answer = self._open(url, headers or {}, self._authorization, method, body)
        with answer:
            if not isinstance(answer, urllib.error.HTTPError):
                answer.read(MOST_ANSWER)
                return answer
            if method == "HEAD" and answer.code == HTTPStatus.NOT_FOUND:
                return answer
            if answer.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise registry.Unreachable(f"it answers {answer.code}")
            raise Refused(answer.code, _message(answer.read(MOST_ANSWER)))


class _Counted:
    """A file that says how much of it was read."""

    def __init__(self, file: Any, took: Callable[[int], None]) -> None:
        self._file, self._took = file, took

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size)
        self._took(len(data))
        return data


class Push:
    """`tell`: the state so far, whenever some MiB more have gone. `is_withdrawn`: asked then, and before the end."""

    def __init__(self, job: Job, tell: Callable[[dict[str, Any]], None], is_withdrawn: Callable[[], bool]) -> None:
        self._job, self._tell, self._is_withdrawn = job, tell, is_withdrawn
        self._sent = self._told = self._total = 0
        host, _slash, repository = job.target.partition("/")
        access = registry.Access(host, host in job.rules.plain_http, job.certificates, bearer=job.bearer)
        self._target = Target(access, repository)
        self._base_host, _slash, self._base_repository = job.image.repository.partition("/")
        self._is_same_registry = self._base_host == host

    def run(self) -> None:
        """Raises Withdrawn, Refused, `registry.Unreachable`, `registry.Refused`, `registry.Mismatch`, OSError."""
        body = self._own(self._job.image.digest).read_bytes()
        document = manifest.parse(body)
        found = manifest.manifest(document)
        missing = [blob for blob in (*found.layers, found.config) if not self._target.has(blob.digest)]
        self._total = sum(blob.size for blob in missing)
        for blob in missing:
            self._refuse_withdrawn()
            self._bring(blob)
        self._refuse_withdrawn()
        self._target.put_manifest(self._job.tag, body, str(document.get("mediaType", manifest.MANIFESTS[0])))

    def _refuse_withdrawn(self) -> None:
        if self._is_withdrawn():
            raise Withdrawn

    def _own(self, digest: str) -> Path:
        found = saved.blob(self._job.home, self._job.image, digest)
        if found is None:
            raise FileNotFoundError(f"{digest} is not kept here")
        return found

    def _bring(self, blob: Blob) -> None:
        """Mounted where the registry has it, sent from here, or fetched from the base's own registry and sent on."""
        if self._is_same_registry and self._target.mount(blob.digest, self._base_repository):
            self._took(blob.size)
            return
        own = saved.blob(self._job.home, self._job.image, blob.digest)
        if own is not None:
            self._target.send(blob, own, self._took)
            return
        draft = self._job.home / saved.FOLDER / f".new-{uuid4().hex}"
        draft.mkdir(mode=0o700)
        try:
            self._fetch(blob, draft / "blob")
            self._target.send(blob, draft / "blob", self._took)
        finally:
            remove_tree(draft)

    def _fetch(self, blob: Blob, path: Path) -> None:
        job = self._job
        basic = registry.basic_of(registry.auth_file(job.home), self._base_host)
        bearer = job.bearer if self._is_same_registry else ""
        access = registry.Access(
            self._base_host, self._base_host in job.rules.plain_http, job.certificates, basic, bearer
        )
        registry.Registry(access, self._base_repository).fetch_whole(blob, path)
        if streams.digest_of(path) != blob.digest:
            raise registry.Mismatch

    def _took(self, size: int) -> None:
        self._sent += size
        if self._sent - self._told >= TELL_BYTES:
            self._told = self._sent
            self._tell({"sent": self._sent, "total": self._total})
            self._refuse_withdrawn()


def main() -> None:
    os.umask(0o077)
    fields = json.loads(sys.stdin.readline())
    rules = PullRules(**{**fields["rules"], "plain_http": tuple(fields["rules"]["plain_http"])})
    job = Job(**{**fields, "image": Reference(**fields["image"]), "home": Path(fields["home"]), "rules": rules})
    state = Path(sys.argv[2])

    def tell(told: dict[str, Any]) -> None:
        write_atomic(state, json.dumps(told).encode(), durable=False)

    try:
        Push(job, tell, state.with_name("withdrawn").exists).run()
    except Withdrawn:
        state.unlink(missing_ok=True)
    except (Refused, registry.Refused, registry.Unreachable, registry.Mismatch, OSError, ValueError) as error:
        tell({"failed": _said(job, error).as_json()})
    else:
        tell({DONE: True})


def _said(job: Job, error: Exception) -> Said:
    host = job.target.partition("/")[0]
    if isinstance(error, Refused):
        return Said(Code.PUSH_REFUSED, {"host": host, "status": error.status, "error": error.message[:500]})
    if isinstance(error, registry.Unreachable):
        return Said(Code.REGISTRY_UNREACHABLE, {"host": host, "error": str(error)[:200]})
    return Said(Code.PUSH_FAILED, {"host": host, "error": str(error)[:200] or type(error).__name__})


def _message(body: bytes) -> str:
    """Of the errors that the specification has registries answer with."""
    try:
        return str(json.loads(body)["errors"][0]["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
