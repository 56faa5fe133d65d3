"""Read models and versions that the actor may see."""

from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.modelhub.choices import VersionState
from apps.modelhub.models import Model, ModelVersion
from apps.storage import owned


def models_for(actor: Actor) -> QuerySet[Model]:
    """Models outside the bin that the actor may read, newest first."""
    return owned.visible(actor, _rows())


def writable(actor: Actor) -> QuerySet[Model]:
    """Models that the actor may add versions to."""
    return owned.writable(actor, _rows())


def binned(actor: Actor) -> QuerySet[Model]:
    """Models in the bin that the actor may restore."""
    return owned.binned(actor, _rows())


def _rows() -> QuerySet[Model]:
    rows: QuerySet[Model] = Model.objects.select_related("owner", "organisation", "draft")
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, model_id: UUID) -> Model:
    """One readable model; `NotFound` otherwise."""
    return owned.get_or_not_found(models_for(actor).filter(pk=model_id))


def get_writable(actor: Actor, model_id: UUID) -> Model:
    """One model to add versions to: `NotFound` if it cannot be seen, `Denied` if it can only be read."""
    return owned.require_writable(actor, get(actor, model_id))


def get_binned(actor: Actor, model_id: UUID) -> Model:
    return owned.get_or_not_found(binned(actor).filter(pk=model_id))


def versions(model: Model) -> QuerySet[ModelVersion]:
    """Newest first, whatever their state."""
    rows: QuerySet[ModelVersion] = ModelVersion.objects.filter(model=model)
    return rows.select_related("model", "made_by").order_by("-number")


def versions_for(actor: Actor) -> QuerySet[ModelVersion]:
    """Versions of readable models whatever their state, newest model and version first."""
    rows: QuerySet[ModelVersion] = ModelVersion.objects.filter(model__in=models_for(actor).order_by())
    rows = rows.select_related("model", "model__owner", "made_by", "workload", "parent", "parent__model")
    return rows.order_by("-model__created_at", "model_id", "-number")


def choosable(actor: Actor) -> QuerySet[ModelVersion]:
    """Versions that the actor may mount."""
    return versions_for(actor).filter(state=VersionState.READY)


def version(actor: Actor, version_id: UUID) -> ModelVersion:
    """One version of a readable model, whatever its state; `NotFound` otherwise."""
    found = versions_for(actor).filter(pk=version_id).first()
    if found is None:
        raise NotFound
    return found


def with_newest(rows: QuerySet[Model]) -> QuerySet[Model]:
    """Each with `newest_number`, `newest_bytes` and `newest_format` of its newest ready version; for lists."""
    newest = ModelVersion.objects.filter(model=OuterRef("pk"), state=VersionState.READY).order_by("-number")
    return rows.annotate(
        newest_number=Subquery(newest.values("number")[:1]),
        newest_bytes=Subquery(newest.values("total_bytes")[:1]),
        newest_format=Subquery(newest.values("format")[:1]),
    )
