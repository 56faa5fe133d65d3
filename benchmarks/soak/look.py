"""What the invariants look at: the rows of one moment, and what the soak remembers from earlier ones."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.workloads.choices import Status
from apps.workloads.models import Workload
from benchmarks.soak.machines import Machines
from benchmarks.soak.room import Machine, machines_now


@dataclass(frozen=True, slots=True)
class Said:
    """When and in which stay a waiting workload was told of nodes on which room is kept for it."""

    at: datetime
    attempt: int
    nodes: frozenset[str]


@dataclass(slots=True)
class Memory:
    """From one look to the next. `hopeless`: told that they never start, and by which hardware.

    `last_status`: by workload, where its events had got to. `bad_since`: since which look members have been
    ended badly in attempts that live. `sets_charged`: sets whose charges have been added up. `counted`: figures for the
    result.
    """

    said: dict[UUID, Said] = field(default_factory=dict)
    hopeless: dict[UUID, tuple[datetime, str]] = field(default_factory=dict)
    last_event: int = 0
    last_status: dict[UUID, Status] = field(default_factory=dict)
    bad_since: dict[UUID, datetime] = field(default_factory=dict)
    below_guarantee_since: dict[UUID, datetime] = field(default_factory=dict)
    beside_room_since: dict[UUID, datetime] = field(default_factory=dict)
    sets_charged: set[UUID] = field(default_factory=set)
    sessions_checked: set[UUID] = field(default_factory=set)
    counted: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Look:
    """One moment, after a pass at rest."""

    now: datetime
    machines: list[Machine]
    waiting: list[Workload]
    driver: Machines
    memory: Memory

    @property
    def hardware(self) -> str:
        """The same text for as long as no machine dies, returns, is emptied or opened again."""
        return "|".join(f"{one.node.name}:{one.takes_work}" for one in self.machines)

    def who(self, workload: Workload) -> str:
        """For messages: what, whose, what it asks for, since when."""
        spec = workload.frozen_spec
        members = f"{workload.member_count} members of " if workload.member_count > 1 else ""
        gpu = f"{spec.gpu.count} x {spec.gpu.model} {spec.gpu.mode} {spec.gpu.profile or ''}" if spec.gpu else "no card"
        since = workload.queued_at.strftime("%m-%d %H:%M")
        return (
            f"{workload.kind} {str(workload.pk)[:8]} of organisation {str(workload.organisation_id)[:8]}"
            f" (person {workload.owner_id}, priority {workload.priority}, {members}{spec.cpu_milli} milli-cores,"
            f" {spec.memory_mib} MiB, {gpu.strip()}; {workload.status} since {since})"
        )


def look_now(now: datetime, driver: Machines, memory: Memory) -> Look:
    # A replica that pauses after its end is not in the queue yet.
    waiting = Workload.objects.filter(status=Status.QUEUED, queued_at__lte=now).order_by("queued_at", "pk")
    return Look(now, machines_now(now), list(waiting), driver, memory)


def cause_of(workload: Workload) -> str:
    explanation: Mapping[str, Any] = workload.explanation
    return str(explanation.get("cause", ""))
