"""Who a pipeline acts as where nobody is there: its owner, with the rights of now."""

from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.common.permissions import Permission
from apps.pipelines.models import Pipeline, PipelineRun
from apps.tenants.actors import organisation_actor


def owner_of(row: Pipeline | PipelineRun) -> Actor:
    """Raises `Denied` for an account that is closed, or without the right to start runs."""
    if not row.owner.is_active:
        raise Denied(Permission.TRAINING_SUBMIT)
    actor = organisation_actor(row.owner, row.organisation_id)
    actor.require(Permission.TRAINING_SUBMIT)
    return actor
