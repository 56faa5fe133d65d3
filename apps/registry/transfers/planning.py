"""What has to be copied of an image: its manifests and what they name, read from the source and held to the limits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.registry.choices import TransferProblem as Problem
from apps.registry.distribution import documents
from apps.registry.distribution.documents import Document, platform_text
from apps.workloads.drivers.images import PullRules
from apps.workloads.drivers.local.oci import manifest as oci

MOST_IMAGES = 64  # of an index; official images have one and an attestation for each of ten architectures
MIB = 1024 * 1024


class Failed(Exception):
    """Why there will be no such image here: `problem` with the parameters of its words."""

    def __init__(self, problem: Problem, **params: str | int) -> None:
        super().__init__(problem.value)
        self.problem, self.params = problem, params


@dataclass(frozen=True, slots=True)
class Part:
    """A manifest or an index, as the source has it."""

    body: bytes
    document: Document

    @property
    def digest(self) -> str:
        return oci.digest_of(self.body)


@dataclass(frozen=True, slots=True)
class Plan:
    """`children`: the images of an index, which go before it. `blobs`: of all of them, each once."""

    top: Part
    children: tuple[Part, ...]
    blobs: tuple[oci.Blob, ...]
    layers: int

    @property
    def size(self) -> int:
        return sum(blob.size for blob in self.blobs)


@dataclass(frozen=True, slots=True)
class Source:
    """How manifests, by tag or digest, and small blobs are had. Raises whatever the source does wrong."""

    manifest: Callable[[str], bytes]
    small_blob: Callable[[str], bytes]
    host: str

    def part(self, reference: str) -> Part:
        """Raises Failed."""
        body = self.manifest(reference)
        if reference.startswith("sha256:") and oci.digest_of(body) != reference:
            raise Failed(Problem.DAMAGED, host=self.host)
        try:
            return Part(body, documents.read(body))
        except documents.Malformed as error:
            raise Failed(Problem.UNREADABLE, reason=str(error)) from error


def plan(source: Source, top: Part, platform: str, rules: PullRules) -> Plan:
    """`platform`: like linux/amd64, "" for all. Raises Failed."""
    if platform:
        top = _chosen(source, top, platform)
    named = top.document.children
    if len(named) > MOST_IMAGES:
        raise Failed(Problem.TOO_MANY_IMAGES, count=len(named), most=MOST_IMAGES)
    children = tuple(source.part(child.digest) for child in named)
    if any(child.document.children for child in children):
        raise Failed(Problem.UNREADABLE, reason="an index inside an index")
    images = children or (top,)
    for image in images:
        _hold_to(image.document, rules)
    blobs = {blob.digest: blob for image in images for blob in image.document.blobs}
    configs = {image.document.blobs[0].digest for image in images if image.document.blobs}
    return Plan(top, children, tuple(blobs.values()), len(blobs.keys() - configs))


def _hold_to(document: Document, rules: PullRules) -> None:
    layers = document.blobs[1:]
    if len(layers) > rules.most_layers:
        raise Failed(Problem.TOO_MANY_LAYERS, count=len(layers), most=rules.most_layers)
    if document.size > rules.most_mib * MIB:
        raise Failed(Problem.TOO_LARGE, size=document.size, most_size=rules.most_mib * MIB)


def _chosen(source: Source, top: Part, platform: str) -> Part:
    """The image for this platform: of an index one of its own, else the image itself if it is for it."""
    if not top.document.children:
        offered = "" if top.document.artifact else _platform_of(source, top)
        if offered and not _is_for(offered, platform):
            raise Failed(Problem.OTHER_ARCHITECTURE, offered=offered, wanted=platform)
        return top
    entries: list[dict[str, Any]] = list(oci.parse(top.body)["manifests"])
    offers = [(platform_text(entry["platform"]), entry) for entry in entries if isinstance(entry.get("platform"), dict)]
    for text, entry in offers:
        if _is_for(text, platform):
            return source.part(oci.blob(entry).digest)
    names = sorted({text for text, _entry in offers if text and not text.startswith("unknown")})
    raise Failed(Problem.OTHER_ARCHITECTURE, offered=", ".join(names[:8]) or "—", wanted=platform)


def _platform_of(source: Source, image: Part) -> str:
    config = image.document.blobs[0]
    if config.size > documents.MOST_BYTES:
        raise Failed(Problem.UNREADABLE, reason="its configuration is larger than 4 MiB")
    body = source.small_blob(config.digest)
    if oci.digest_of(body) != config.digest:
        raise Failed(Problem.DAMAGED, host=source.host)
    try:
        return platform_text(oci.parse(body))
    except oci.Unreadable as error:
        raise Failed(Problem.UNREADABLE, reason=str(error)) from error


def _is_for(offered: str, platform: str) -> bool:
    """linux/arm64/v8 is linux/arm64, too."""
    return offered == platform or offered.startswith(f"{platform}/")
