"""The victim's model with a version, for the sweep of all routes."""

from typing import Any
from uuid import uuid4

from apps.common.scoping import acting
from apps.modelhub import services
from apps.modelhub.choices import Source, Stage
from apps.modelhub.models import Promotion
from apps.modelhub.services import Lineage
from apps.storage import volumes
from apps.storage.choices import RootKind
from apps.storage.roots import resolve
from tests.builders import World, actor_of


def model_values(world: World, secret: str) -> dict[str, Any]:
    """The version's contents are still being copied."""
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        volume = volumes.create(actor, name=f"{secret}-weights", size_mib=10)
        (volumes.root_of(volume) / "model.onnx").write_text(secret)
        source = resolve(actor, RootKind.VOLUME, volume.pk)
        model = services.create(actor, name=f"{secret}-model", note=secret)
        version = services.add_version(actor, model, source, lineage=Lineage(Source.VOLUME, volume.name), note=secret)
        Promotion.objects.create(
            organisation=world.organisation,
            version=version,
            stage=Stage.PRODUCTION,
            reason=secret,
            asked_by=world.alice,
            pk=(asked := uuid4()),
        )
    return {"model_id": model.pk, "version_id": version.pk, "promotion_id": asked, "alias": "production"}
