"""Manifests and indexes as somebody pushed them: what they name, and how much that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.workloads.drivers.local.oci import manifest as oci

MOST_BYTES = oci.MOST_BYTES
INDEX = oci.INDEXES[0]
MOST_PARTS = 1000
MOST_SIZE = 2**50


class Malformed(ValueError):
    """Not what the OCI Image Format Specification says, or beyond any real image."""


@dataclass(frozen=True, slots=True)
class Document:
    """`blobs`: of an image its configuration, then its layers. `children`: of an index the manifests that it names."""

    media_type: str
    blobs: tuple[oci.Blob, ...] = ()
    children: tuple[oci.Blob, ...] = ()
    platforms: tuple[str, ...] = ()
    artifact: bool = False

    @property
    def size(self) -> int:
        return sum(blob.size for blob in {blob.digest: blob for blob in (*self.blobs, *self.children)}.values())


def read(body: bytes) -> Document:
    """Raises Malformed."""
    if len(body) > MOST_BYTES:
        raise Malformed("it is larger than 4 MiB")
    try:
        about = oci.parse(body)
        found = _index(about) if oci.is_index(about) else _image(about)
    except oci.Unreadable as error:
        raise Malformed(str(error)) from error
    if found.size > MOST_SIZE or any(blob.size > MOST_SIZE for blob in (*found.blobs, *found.children)):
        raise Malformed("what it names is larger than a pebibyte")
    return found


def _image(about: Mapping[str, Any]) -> Document:
    if isinstance(about.get("layers"), list) and len(about["layers"]) > MOST_PARTS:
        raise Malformed("it has more than 1000 layers")
    found = oci.manifest(about)
    kind = str((about.get("config") or {}).get("mediaType") or "")
    return Document(
        _media_type(about, oci.MANIFESTS[0]),
        blobs=(found.config, *found.layers),
        artifact=kind
        not in ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"),
    )


def _index(about: Mapping[str, Any]) -> Document:
    entries = about.get("manifests")
    if not isinstance(entries, list) or len(entries) > MOST_PARTS:
        raise Malformed("its list of manifests is none, or has more than 1000")
    platforms = (_platform(entry) for entry in entries)
    return Document(
        _media_type(about, oci.INDEXES[0]),
        children=tuple(oci.blob(entry) for entry in entries),
        platforms=tuple(sorted({each for each in platforms if each})),
    )


def _media_type(about: Mapping[str, Any], default: str) -> str:
    found = about.get("mediaType", default)
    if not isinstance(found, str) or found not in (*oci.MANIFESTS, *oci.INDEXES):
        raise Malformed("its media type is none of an image's")
    return found


def _platform(entry: object) -> str:
    about = entry.get("platform") if isinstance(entry, dict) else None
    if not isinstance(about, dict) or about.get("os") == "unknown":
        return ""
    return platform_text(about)


def platform_text(about: Mapping[str, Any]) -> str:
    """Like linux/arm64 or linux/arm/v7, of a platform or a configuration; "" where it says none."""
    parts = [about.get("os"), about.get("architecture"), about.get("variant")]
    return "/".join(part[:20] for part in parts if isinstance(part, str) and part.isprintable() and part)


def digest_for(index: bytes, platform: str) -> str | None:
    """Which of the manifests of an index that could be read is for exactly this platform."""
    for entry in oci.parse(index)["manifests"]:
        if _platform(entry) == platform:
            return oci.blob(entry).digest
    return None
