"""Models and versions for tests, made of volumes through the services."""

from typing import Any

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.modelhub import selectors, services
from apps.modelhub.choices import Source
from apps.modelhub.models import Model, ModelVersion
from apps.modelhub.services import Lineage
from apps.storage import volumes
from apps.storage.choices import RootKind
from apps.storage.models import Volume
from apps.storage.roots import resolve
from tests.storage.kit import make_volume, put, work


def make_model(actor: Actor, name: str = "digits", **changes: Any) -> Model:
    with acting(actor):
        return services.create(actor, name=name, **changes)


def volume_with(actor: Actor, files: dict[str, bytes], name: str = "work") -> Volume:
    volume = make_volume(actor, name)
    for path, content in files.items():
        put(volumes.root_of(volume), path, content)
    return volume


def queue_version(actor: Actor, model: Model, volume: Volume, path: str = "", **lineage: Any) -> ModelVersion:
    with acting(actor):
        source = resolve(actor, RootKind.VOLUME, volume.pk)
        told = Lineage(**{"source": Source.VOLUME, "name": volume.name, **lineage})
        return services.add_version(actor, model, source, path, lineage=told)


def make_version(actor: Actor, model: Model, volume: Volume, path: str = "", **lineage: Any) -> ModelVersion:
    """A version whose contents have been copied, or could not be."""
    version = queue_version(actor, model, volume, path, **lineage)
    work()
    return again(actor, version)


def again(actor: Actor, version: ModelVersion) -> ModelVersion:
    with acting(actor):
        return selectors.version(actor, version.pk)
