"""The part of the local driver that knows which runtimes and container images are here, and saves what runs as one."""

from pathlib import Path

from apps.workloads.drivers import software_sources
from apps.workloads.drivers.base import Handle, Progress, PullRules, Reference, RuntimeImage, SoftwareSources
from apps.workloads.drivers.errors import DriverError, now_or_later
from apps.workloads.drivers.images import Destination, Making
from apps.workloads.drivers.local import runtime
from apps.workloads.drivers.local.oci import kept, pushed, saved
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.local.records import RunDirectory, decode_spec
from apps.workloads.drivers.said import Code, Said


class ImagesOfMachine:
    """Below a home."""

    _home: Path

    def has_image(self, image: RuntimeImage) -> bool:
        return runtime.is_complete(self._home / "runtimes" / runtime.key(image))

    def has_reference(self, image: Reference) -> bool:
        return Store(self._home).has(image)

    def save_image(self, handle: Handle, making: Making | None = None) -> Reference:
        run = self._run(handle.ref)
        with now_or_later():
            if not run.spec.exists() or run.exit.exists():
                raise DriverError(Said(Code.ROOT_NOT_KEPT))
            return saved.save(run, decode_spec(run.spec.read_bytes()), making or Making())

    def push_image(self, handle: Handle, image: Reference, to: Destination) -> Progress | None:
        run = self._run(handle.ref)
        with now_or_later():
            spec = decode_spec(run.spec.read_bytes())
            fetching = pushed.Fetching(spec.request.pull, spec.request.sources, spec.certificates)
            return pushed.push(self._home, fetching, image, to)

    def withdraw_image(self, handle: Handle, image: Reference, to: Destination) -> bool:
        with now_or_later():
            return pushed.withdraw(self._home, image, to)

    def push_kept(
        self, image: Reference, to: Destination, rules: PullRules, sources: SoftwareSources
    ) -> Progress | None:
        with now_or_later():
            fetching = pushed.Fetching(rules, sources, software_sources.bundle(sources, self._home))
            return pushed.push(self._home, fetching, image, to)

    def withdraw_kept(self, image: Reference, to: Destination) -> bool:
        with now_or_later():
            return pushed.withdraw(self._home, image, to)

    def saved_images(self, older_than_s: float) -> list[str]:
        with now_or_later():
            kept.clear_up(self._home)
            return kept.digests(self._home, older_than_s)

    def drop_image(self, digest: str, older_than_s: float = 0.0) -> bool:
        with now_or_later():
            return kept.drop(self._home, digest, older_than_s)

    def saved_manifest(self, image: Reference) -> bytes:
        with now_or_later():
            found = saved.blob(self._home, image, image.digest)
            if found is None:
                raise DriverError(Said(Code.BASE_NOT_KEPT, {"image": image.name}))
            return found.read_bytes()

    def _run(self, ref: str) -> RunDirectory:
        raise NotImplementedError
