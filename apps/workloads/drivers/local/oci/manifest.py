"""Manifests, indexes and configurations of the OCI image format, and Docker's of the same shape. Standard library only.

OCI Image Format Specification, "Image Index", "Image Manifest" and "Image Configuration".
"""

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MANIFESTS = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
ACCEPT = ", ".join((*MANIFESTS, *INDEXES))
MOST_BYTES = 4 * 1024 * 1024
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


class Unreadable(ValueError):
    """Not what the specification says."""


class OtherMachine(ValueError):
    """`offered`: the platforms that the image is for."""

    def __init__(self, offered: str) -> None:
        super().__init__(offered)
        self.offered = offered


@dataclass(frozen=True, slots=True)
class Blob:
    """What a manifest names: its digest, and how many bytes it has."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """`layers`: from the lowest on."""

    config: Blob
    layers: tuple[Blob, ...]


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """How the image wants its program started. `size`: bytes on disk, `files`: how many it holds, once unpacked."""

    env: Mapping[str, str]
    workdir: str
    entrypoint: tuple[str, ...]
    cmd: tuple[str, ...]
    user: str
    size: int = 0
    files: int = 0


def machine_architecture() -> str:
    """As the specification calls it (Go's GOARCH)."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def digest_of(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def parse(body: bytes) -> Mapping[str, Any]:
    """Raises Unreadable."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable("no JSON") from error
    if not isinstance(found, dict):
        raise Unreadable("no JSON object")
    return found


def is_index(document: Mapping[str, Any]) -> bool:
    return document.get("mediaType") in INDEXES or ("manifests" in document and "layers" not in document)


def choose(index: Mapping[str, Any], architecture: str) -> Blob:
    """The manifest for this machine. Raises OtherMachine, Unreadable."""
    offered = []
    for entry in _list(index, "manifests"):
        about = entry.get("platform") if isinstance(entry, dict) else None
        if not isinstance(about, dict) or about.get("os") == "unknown":  # attestations stand beside images
            continue
        if (about.get("os"), about.get("architecture")) == ("linux", architecture):
            return blob(entry)
        offered.append(f"{about.get('os')}/{about.get('architecture')}"[:40])
    raise OtherMachine(", ".join(sorted(set(offered))[:8]) or "no platform")


def platforms(index: Mapping[str, Any]) -> tuple[str, ...]:
    """Architectures under Linux for which an index has an image. Raises Unreadable."""
    told = (entry.get("platform") for entry in _list(index, "manifests") if isinstance(entry, dict))
    return _architectures(about for about in told if isinstance(about, dict))


def platform_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The same of the configuration of a single image."""
    return _architectures([{"os": "linux", **document}])


def _architectures(platforms: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    names = {about.get("architecture") for about in platforms if about.get("os") == "linux"}
    return tuple(sorted(name for name in names if isinstance(name, str) and re.fullmatch(r"[a-z0-9_]{1,20}", name)))


def manifest(document: Mapping[str, Any]) -> Manifest:
    """Raises Unreadable."""
    if document.get("schemaVersion") != 2:
        raise Unreadable("its manifest is not of version 2")
    return Manifest(blob(document.get("config")), tuple(map(blob, _list(document, "layers"))))


def config(document: Mapping[str, Any], architecture: str) -> ImageConfig:
    """Raises OtherMachine, Unreadable."""
    system, machine = document.get("os", "linux"), document.get("architecture")
    if (system, machine) != ("linux", architecture):
        raise OtherMachine(f"{system}/{machine}"[:40])
    wanted = document.get("config") or {}
    if not isinstance(wanted, dict):
        raise Unreadable("its configuration is no object")
    pairs = (line.partition("=") for line in _texts(wanted, "Env"))
    return ImageConfig(
        env={name: value for name, _, value in pairs if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)},
        workdir=_text(wanted, "WorkingDir"),
        entrypoint=_texts(wanted, "Entrypoint"),
        cmd=_texts(wanted, "Cmd"),
        user=_text(wanted, "User"),
    )


def blob(entry: object) -> Blob:
    """A descriptor. Raises Unreadable."""
    if not isinstance(entry, dict):
        raise Unreadable("a part of its manifest is no object")
    digest, size = entry.get("digest"), entry.get("size")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest) or not isinstance(size, int) or size < 0:
        raise Unreadable("a part of its manifest has no sha256 digest or no size")
    return Blob(digest, size)


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name)
    if not isinstance(found, list):
        raise Unreadable(f"its manifest has no {name}")
    return found


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = document.get(name) or []
    if not isinstance(found, list) or not all(isinstance(text, str) and "\0" not in text for text in found):
        raise Unreadable(f"{name} of its configuration is no list of words")
    return tuple(found)


def _text(document: Mapping[str, Any], name: str) -> str:
    found = document.get(name) or ""
    if not isinstance(found, str) or "\0" in found:
        raise Unreadable(f"{name} of its configuration is no text")
    return found
