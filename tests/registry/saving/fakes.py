"""A machine that saves and sends, and a registry, which do in memory what they are told to."""

from collections.abc import Iterable

from apps.registry.distribution.client import Manifest, RegistryAway
from apps.workloads.drivers.base import DriverError, Handle, Progress, Reference
from apps.workloads.drivers.images import Destination
from apps.workloads.drivers.said import Code, Said
from tests.drivers.registries import layer
from tests.registry.pushing import Image, image

BASE = "registry.lab:5000/team/base"
Sent = tuple[str, str, str]
"""A digest on its way to a repository and tag."""


class FakeRegistry:
    """`deliveries`: how often a tag appeared that was not there."""

    def __init__(self) -> None:
        self.is_away = False
        self.deliveries = 0
        self._tags: dict[tuple[str, str], Image] = {}

    def __enter__(self) -> "FakeRegistry":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is open."""

    def manifest(self, name: str, reference: str) -> Manifest | None:
        self._answer()
        found = self._tags.get((name, reference))
        return Manifest(found.digest, found.manifest) if found else None

    def small_blob(self, name: str, digest: str) -> bytes | None:
        self._answer()
        blobs = (blob for (place, _tag), each in self._tags.items() if place == name for blob in each.blobs[:1])
        return next(iter(blobs), None)

    def take(self, name: str, tag: str, what: Image) -> None:
        there = self._tags.get((name, tag))
        if there is None:
            self.deliveries += 1
            self._tags[name, tag] = what
        assert there is None or there.digest == what.digest, "a version was overwritten"

    def delete(self, name: str) -> Iterable[tuple[str, str]]:
        gone = [key for key in self._tags if key[0] == name]
        for key in gone:
            del self._tags[key]
        return gone

    def _answer(self) -> None:
        if self.is_away:
            raise RegistryAway


class FakeMachine:
    """A driver: what runs there is known by how often it was changed. `missed`: what was to be sent and not kept."""

    def __init__(self, registry: FakeRegistry) -> None:
        self.layouts: set[str] = set()
        self.missed: list[str] = []
        self._registry = registry
        self._changes: dict[str, int] = {}
        self._made: dict[str, Image] = {}
        self._sending: dict[Sent, int] = {}

    def change(self, ref: str) -> None:
        self._changes[ref] = self._changes.get(ref, 0) + 1

    def save_image(self, handle: Handle, making: object = None) -> Reference:
        name = f"{handle.ref} {self._changes.get(handle.ref, 0)}"
        made = image(name, [layer(("change", name.encode() * 20))])
        self._made[made.digest] = made
        self.layouts.add(made.digest)
        return Reference(BASE, made.digest)

    def push_image(self, handle: Handle | None, image: Reference, to: Destination) -> Progress | None:
        key = self._key(image, to)
        left = self._sending.setdefault(key, 2)
        if left == 0:
            return None
        if self._registry.is_away:
            raise DriverError(Said(Code.REGISTRY_UNREACHABLE, {"host": "registry.test", "error": "away"}))
        self._step(key)
        return Progress(Said(Code.PUSHING, {"host": "registry.test", "size": "1 MB"}), 0.5)

    def send_on(self) -> None:
        if not self._registry.is_away:
            for key in list(self._sending):
                self._step(key)

    def _step(self, key: Sent) -> None:
        digest, repository, tag = key
        if self._sending[key] == 0:
            return
        if digest not in self.layouts:
            self.missed.append(digest)
        self._sending[key] -= 1
        if self._sending[key] == 0:
            self._registry.take(repository, tag, self._made[digest])

    def withdraw_image(self, handle: Handle, image: Reference, to: Destination) -> bool:
        self._sending.pop(self._key(image, to), None)
        return True

    def push_kept(self, image: Reference, to: Destination, rules: object, sources: object) -> Progress | None:
        return self.push_image(None, image, to)

    def withdraw_kept(self, image: Reference, to: Destination) -> bool:
        self._sending.pop(self._key(image, to), None)
        return True

    def saved_images(self, older_than_s: float) -> list[str]:
        return sorted(self.layouts)

    def saved_manifest(self, image: Reference) -> bytes:
        if image.digest not in self.layouts:
            raise DriverError(Said(Code.BASE_NOT_KEPT, {"image": image.name}))
        return self._made[image.digest].manifest

    def drop_image(self, digest: str, older_than_s: float = 0.0) -> bool:
        if any(sent[0] == digest and left for sent, left in self._sending.items()):
            return False
        self.layouts.discard(digest)
        return True

    @staticmethod
    def _key(image: Reference, to: Destination) -> Sent:
        return image.digest, to.repository.partition("/")[2], to.tag
