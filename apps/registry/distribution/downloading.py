"""An image as a file: a tar that is made while it is sent. Its layers pass through; nothing is kept.

It is an OCI image layout, which podman, skopeo, buildah and containerd read, and for a single image has the
`manifest.json` that `docker load` looks for, too.
"""

import json
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django_scopes import scopes_disabled

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.files import as_attachment
from apps.common.permissions import Permission
from apps.common.streams import Stream, in_threads
from apps.registry.distribution import documents, pushes
from apps.registry.distribution.client import Client, Manifest, RegistryAway
from apps.registry.distribution.documents import Document, Malformed
from apps.registry.distribution.selectors import repository_of, tags
from apps.registry.models import ImageTag

BLOCK = tarfile.BLOCKSIZE
END = b"\0" * (2 * BLOCK)
FOLDERS = ("blobs/", "blobs/sha256/")
LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'


@dataclass(frozen=True, slots=True)
class File:
    """A file of the tar. `body`: None for what the registry is asked for when its turn comes."""

    name: str
    size: int
    body: bytes | None = None

    @property
    def header(self) -> bytes:
        about = tarfile.TarInfo(self.name.rstrip("/"))
        about.size, about.mode = self.size, 0o644
        if self.name.endswith("/"):
            about.type, about.mode = tarfile.DIRTYPE, 0o755
        return about.tobuf(tarfile.GNU_FORMAT)

    @property
    def padding(self) -> bytes:
        return b"\0" * (-self.size % BLOCK)


@dataclass(frozen=True, slots=True)
class Download:
    """`size`: of the whole file. `parts` raises RegistryAway where the registry goes away meanwhile."""

    name: str
    size: int
    parts: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class _Part:
    manifest: Manifest
    document: Document


def download(actor: Actor, tag: ImageTag, platform: str = "") -> Download:
    """`platform`: like linux/amd64, of an image for several; "" for all of them.

    Raises `NotFound`, `Invalid` (field `platform`), `RegistryAway`.
    """
    actor.require(Permission.IMAGES_USE)
    repository = repository_of(actor, tag.repository_id)
    digest = tag.manifest.digest
    with Client() as client:
        top = _part(client, repository.name, digest)
        if platform:
            top = _chosen(client, repository.name, top, platform)
        children = [_part(client, repository.name, child.digest) for child in top.document.children]
    files = _files(f"{settings.REGISTRY_HOST}/{repository.name}:{tag.name}", tag.name, top, children)
    record(
        actor,
        action="image.downloaded",
        target=Target("image_repository", str(repository.pk), f"{repository.name}:{tag.name}"),
        organisation_id=actor.organisation(),
        after={"digest": digest, "platform": platform},
    )
    size = sum(len(file.header) + file.size + len(file.padding) for file in files) + len(END)
    name = "-".join(filter(None, (repository.name.rpartition("/")[2], tag.name, platform.replace("/", "-"))))
    return Download(f"{name}.tar", size, _tar(repository.name, files))


def response(actor: Actor, tag: ImageTag, platform: str) -> Stream:
    """The file as an answer. Raises as `download`."""
    made = download(actor, tag, platform)
    stream = Stream(
        in_threads(made.parts),
        visible=lambda now: repository_of(now, tag.repository_id),
        content_type="application/x-tar",
    )
    stream.headers["Content-Length"] = str(made.size)
    return as_attachment(stream, made.name)


def tag_to_pull(actor: Actor, tag_id: UUID) -> ImageTag:
    """Raises `NotFound` for one that the actor may not pull."""
    with scopes_disabled():  # it may be of a repository that another organisation shares
        repository_id = ImageTag.objects.filter(pk=tag_id).values_list("repository_id", flat=True).first()
    tag: ImageTag | None = (
        tags(repository_of(actor, repository_id)).filter(pk=tag_id).first() if repository_id else None
    )
    if tag is None:
        raise NotFound
    return tag


def _part(client: Client, name: str, digest: str) -> _Part:
    manifest = client.manifest(name, digest)
    if manifest is None:
        raise NotFound
    try:
        return _Part(manifest, documents.read(manifest.body))
    except Malformed as error:
        raise RegistryAway from error


def _chosen(client: Client, name: str, top: _Part, platform: str) -> _Part:
    digest = documents.digest_for(top.manifest.body, platform) if top.document.children else None
    if digest is not None:
        return _part(client, name, digest)
    raise Invalid.field("platform", _("The image is not one for several platforms with this one among them."))


def _files(full: str, tag: str, top: _Part, children: Sequence[_Part]) -> list[File]:
    images = children or [top]
    entry: dict[str, Any] = {
        "mediaType": top.document.media_type,
        "digest": top.manifest.digest,
        "size": len(top.manifest.body),
        "annotations": {"io.containerd.image.name": full, "org.opencontainers.image.ref.name": tag},
    }
    files = [File(name, 0, b"") for name in FOLDERS]
    files.append(_written("oci-layout", LAYOUT))
    files.append(_json("index.json", {"schemaVersion": 2, "mediaType": documents.INDEX, "manifests": [entry]}))
    if not children and not top.document.artifact:
        config, *layers = (_path(blob.digest) for blob in top.document.blobs)
        files.append(_json("manifest.json", [{"Config": config, "RepoTags": [full], "Layers": layers}]))
    manifests = {part.manifest.digest: part.manifest.body for part in (top, *children)}
    files += [_written(_path(digest), body) for digest, body in manifests.items()]
    blobs = {blob.digest: blob.size for part in images for blob in part.document.blobs}
    return files + [File(_path(digest), size) for digest, size in blobs.items() if digest not in manifests]


def _path(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _json(name: str, document: object) -> File:
    return _written(name, json.dumps(document, separators=(",", ":")).encode())


def _written(name: str, body: bytes) -> File:
    return File(name, len(body), body)


def _tar(name: str, files: Sequence[File]) -> Iterator[bytes]:
    movement = pushes.Movement()  # so that no collection cuts it off
    with Client() as client:
        for file in files:
            yield file.header
            if file.body is not None:
                yield file.body
            else:
                digest = f"sha256:{file.name.rpartition('/')[2]}"
                with closing(client.blob(name, digest, file.size)) as pieces:
                    for piece in pieces:
                        movement.note()
                        yield piece
            yield file.padding
    yield END
