"""Which images an archive has, and how they read as those of a registry.

Two formats, which `docker save`, podman, skopeo, buildah and BuildKit write: an OCI image layout (`index.json`), and
Docker's older one (`manifest.json`), for whose images a manifest is made here. Where an archive is both, the layout.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.registry.choices import TransferProblem as Problem
from apps.registry.distribution.documents import platform_text
from apps.registry.transfers.archives import Archive, Entry
from apps.registry.transfers.planning import MOST_IMAGES, Failed
from apps.workloads.drivers.local.oci import manifest as oci

INDEX, DOCKER = "index.json", "manifest.json"
MOST_NAME = 200
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar"
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


@dataclass(frozen=True, slots=True)
class Contents:
    """`manifests`: those that were made, by digest. `most`: bytes that a layer may have."""

    archive: Archive
    most: int
    moving: Callable[[], None]
    manifests: dict[str, bytes] = field(default_factory=dict)

    def images(self) -> dict[str, str]:
        """Digests of all that it has, by the names that people know them by. Raises Failed."""
        found: dict[str, str] = {}
        for name, digest in self._named():
            if digest in found.values():
                continue  # one image under two tags
            name = "".join(each for each in name if each.isprintable())[:MOST_NAME]
            found[name if name and name not in found else f"{name} {digest}"[-MOST_NAME:].strip()] = digest
        if not found:
            raise Failed(Problem.NO_IMAGE if self.archive.ended else Problem.TRUNCATED)
        if len(found) > MOST_IMAGES:
            raise Failed(Problem.TOO_MANY_IMAGES, count=len(found), most=MOST_IMAGES)
        return found

    def document(self, digest: str) -> bytes:
        """A manifest or a configuration. Raises Failed."""
        return self.manifests[digest] if digest in self.manifests else self.archive.document(self.blob(digest))

    def blob(self, digest: str) -> Entry:
        """By what it is, wherever in the archive. Raises Failed."""
        if digest not in self.archive.by_digest:
            raise self.archive.lacking(digest)
        return self.archive.by_digest[digest]

    def _named(self) -> Iterator[tuple[str, str]]:
        try:
            if INDEX in self.archive:
                yield from self._of_layout()
            elif DOCKER in self.archive:
                yield from self._of_docker()
        except oci.Unreadable as error:
            raise Failed(Problem.UNREADABLE, reason=str(error)) from error

    def _of_layout(self) -> Iterator[tuple[str, str]]:
        entries = oci.parse(self.archive.document(self.archive.find(INDEX))).get("manifests")
        for entry in entries if isinstance(entries, list) else []:
            digest = oci.blob(entry).digest
            notes, platform = _object(entry, "annotations"), _object(entry, "platform")
            if platform.get("os") == "unknown" or "vnd.docker.reference.type" in notes:
                continue  # an attestation, which stands beside its image
            called = next((str(notes[name]) for name in _NAMES if name in notes), digest)
            yield " ".join(filter(None, (called, platform_text(platform)))), digest

    def _of_docker(self) -> Iterator[tuple[str, str]]:
        try:
            entries = json.loads(self.archive.document(self.archive.find(DOCKER)))
        except (ValueError, RecursionError) as error:
            raise oci.Unreadable("no JSON") from error
        for entry in entries if isinstance(entries, list) else []:
            digest = self._made(entry)
            tags = entry.get("RepoTags")
            yield str(tags[0]) if isinstance(tags, list) and tags else digest, digest

    def _made(self, entry: object) -> str:
        """The digest of a manifest for one of Docker's. Raises Failed, oci.Unreadable."""
        config, layers = (entry.get("Config"), entry.get("Layers")) if isinstance(entry, dict) else (None, None)
        if not isinstance(config, str) or not isinstance(layers, list) or not all(isinstance(x, str) for x in layers):
            raise oci.Unreadable("its manifest.json names no configuration and layers")
        about = self.archive.find(config)
        ids = _object(oci.parse(self.archive.document(about)), "rootfs").get("diff_ids")
        found = [self.archive.find(layer) for layer in layers]
        if not isinstance(ids, list) or len(ids) != len(found):
            raise oci.Unreadable("its configuration names another number of layers")
        for name, layer, wanted in zip(layers, found, ids, strict=True):
            if self.archive.unpacked_digest(layer, self.most, self.moving) != wanted:
                raise Failed(Problem.WRONG_DIGEST, name=name[:MOST_NAME])
        body = {
            "schemaVersion": 2,
            "mediaType": oci.MANIFESTS[1],
            "config": {"mediaType": _CONFIG, "digest": about.digest, "size": about.size},
            "layers": [
                {"mediaType": self._media_type(each, wanted), "digest": each.digest, "size": each.size}
                for each, wanted in zip(found, ids, strict=True)
            ],
        }
        manifest = json.dumps(body, separators=(",", ":")).encode()
        digest = oci.digest_of(manifest)
        self.manifests[digest] = manifest
        return digest

    def _media_type(self, layer: Entry, unpacked: str) -> str:
        return _LAYER if layer.digest == unpacked else f"{_LAYER}.gzip"


def _object(document: Any, name: str) -> Mapping[str, Any]:
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}
