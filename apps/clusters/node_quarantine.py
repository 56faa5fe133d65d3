"""Nodes that the platform itself gives no work, until it is proved that work can run there.

A cordon is a person's will. A quarantine is the platform's own caution: a node of a cluster is in it from the moment
that it is found, and any node that loses what it is given gets into it. What runs on the node goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models

from apps.clusters.choices import Quarantine

LONGEST = 300


class Quarantinable(models.Model):
    """The columns of a node. `services.quarantine` alone writes why and when."""

    # Why the platform gives it no work; "" for a node that takes any.
    quarantine = models.CharField(max_length=12, choices=Quarantine, blank=True, default="", db_default="")
    # When that was last decided, also when it was lifted: what happened before says nothing about the node of now.
    quarantine_changed_at = models.DateTimeField(null=True)
    quarantine_about = models.JSONField(default=dict, db_default={})  # `Grounds`
    # What it lost in a row before it began, a list of `workloads.hardware.black_holes.Loss`.
    losses = models.JSONField(default=list, db_default=[])

    class Meta:
        abstract = True


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was seen. `error`: as the node or its cluster said it. `command`: what mends it, or says more; "" for none.

    `losses`: how many tries of work it lost before it was closed.
    """

    error: str = ""
    command: str = ""
    losses: int = 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Grounds":
        return cls(str(data.get("error", "")), str(data.get("command", "")), int(data.get("losses", 0)))

    def as_json(self) -> dict[str, Any]:
        return {"error": self.error[:LONGEST], "command": self.command[:LONGEST], "losses": self.losses}


def grounds_of(node: Quarantinable) -> Grounds:
    return Grounds.from_json(node.quarantine_about)
