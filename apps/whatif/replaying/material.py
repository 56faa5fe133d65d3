"""Everything that one side replays, as plain data for the replaying process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from scheduler.replay import Arrival
from scheduler.types import Node, Queue, Task


@dataclass(frozen=True, slots=True)
class Times:
    """The platform's rules of giving way, in seconds."""

    notice_s: float = 120.0
    save_s: float = 300.0
    min_runtime_s: float = 600.0
    firm_over_guarantee: bool = True


@dataclass(frozen=True, slots=True)
class Material:
    """`start`, `end`: the span in seconds since the epoch. `past`: runs that ended before it, to learn durations from.

    `rates` (fen an hour) and `packages` (ids) are by task; a task without a rate earns nothing. `organisations`,
    `users` and `machines` name the keys that tasks and nodes carry. `guessed`: tasks that never ran, replayed with the
    usual length of their like. `left_out`: those for which even that is unknown.
    """

    start: float
    end: float
    nodes: tuple[Node, ...]
    arrivals: tuple[Arrival, ...]
    queues: tuple[Queue, ...] = ()
    past: tuple[tuple[Task, float], ...] = ()
    times: Times = Times()
    rates: Mapping[str, Decimal] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    organisations: Mapping[str, str] = field(default_factory=dict)
    users: Mapping[str, str] = field(default_factory=dict)
    machines: Mapping[str, str] = field(default_factory=dict)
    guessed: int = 0
    left_out: int = 0
