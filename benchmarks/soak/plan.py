"""What a soak is asked for, and what it finds."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `stride`: how often all loops run; `small`: `machines` of two cores instead of the zone.

    `longest`: what no run takes longer than, so that the queue can run empty soon after. `bustle`: how many times as
    often as usual people act. `gangs`: the share of runs that have several members. `sets`: how often sets of replicas
    are started, as a share of all acts; as often they are scaled. `within`: give up after so long on the wall; the
    result says how far it came.
    """

    hours: int = 24
    seed: int = 1
    people: int = 40
    organisations: int = 5
    stride: timedelta = timedelta(minutes=15)
    stop_at_first: bool = False
    small: bool = False
    machines: int = 1
    deaths_a_day: float = 2.0
    longest: timedelta = timedelta(hours=10)
    bustle: float = 1.0
    gangs: float = 0.15
    sets: float = 0.04
    within: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """`after_cpu_s`: of this process, since the start."""

    at: str
    invariant: str
    text: str
    after_cpu_s: float
