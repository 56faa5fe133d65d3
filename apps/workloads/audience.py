"""Who may hear what of the events of an organisation: those of the work that they see."""

import json
from dataclasses import dataclass
from typing import Any

from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.common.hub import Batch
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.permissions import sees_everyones

SHOWN = ("id", "workload", "about", "kind", "of", "status")


@dataclass(frozen=True, slots=True)
class Audience:
    """Those who see the same: everyone's work of some kinds, of others their own (`owner_id`)."""

    everyones: frozenset[Kind]
    own: frozenset[Kind]
    owner_id: int | None

    @classmethod
    def of(cls, actor: Actor) -> "Audience":
        viewed = frozenset(rules.name for rules in kinds.every() if _views(actor, rules.name))
        everyones = frozenset(name for name in viewed if sees_everyones(actor, name))
        own = viewed - everyones
        return cls(everyones, own, actor.user_id if own else None)

    def sees(self, message: dict[str, Any]) -> bool:
        kind = message.get("of")
        if kind is None:
            return True
        return kind in self.everyones or (kind in self.own and message.get("owner") == self.owner_id)

    def frame(self, batch: Batch) -> str:
        """The batch in JSON; what this audience does not see is one event of kind "other" without a name."""
        if batch.is_overflow:
            return json.dumps({"reset": True, "spread": batch.spread_s})
        seen = [_told(batch.group, message) for message in batch.messages if self.sees(message)]
        if len(seen) < len(batch.messages):
            seen.append({"group": batch.group, "kind": "other"})
        return json.dumps({"events": seen, "spread": batch.spread_s})


def _views(actor: Actor, kind: Kind) -> bool:
    try:
        sees_everyones(actor, kind)
    except Denied:
        return False
    return True


def _told(group: str, message: dict[str, Any]) -> dict[str, Any]:
    if message["type"] == "notice":
        return {"group": group, "kind": "notice"}
    shown = {key: message[key] for key in SHOWN if key in message}
    if not shown.get("id"):
        shown.pop("id", None)
    return {"group": group, **shown}
