"""Writing the operation log. Called by services and `states`, in the transaction of the change itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.audit.models import Entry
from apps.common.actor import Actor


@dataclass(frozen=True, slots=True)
class Target:
    """What was changed: `type` is the model's name, `label` what people call the object."""

    type: str
    id: str
    label: str


def record(
    actor: Actor,
    *,
    action: str,
    target: Target,
    organisation_id: UUID | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Append one entry. `before` and `after` hold JSON values of the changed fields only, never secrets."""
    Entry.objects.create(
        organisation_id=organisation_id or actor.organisation_id,
        actor_id=actor.user_id,
        actor_label=actor.label[:200],
        channel=actor.channel,
        address=actor.address,
        action=action,
        target_type=target.type,
        target_id=target.id,
        target_label=target.label[:200],
        before=dict(before or {}),
        after=dict(after or {}),
    )
