"""Replay arrivals against nodes, queues and rules, to the end or over a span: `simulate(...)`.

With a `history`, estimates are learned as tasks end; without one, the tasks' own estimates are used. With a span, tasks
still there at its end are cut off, and later arrivals are left out; tasks with an infinite run time require a span.

`keep_use`: recent use of the organisations follows their use in the replay; otherwise it stays as given in the queues.
`thin_after`: for each so many waiting tasks the interval between passes grows by another `pass_every_s`, because a long
queue waits for hours and each pass over it is expensive. `progress` is called with the replayed time after each
instant; an exception from it ends the replay.
"""

import math
from collections.abc import Sequence

from scheduler.engine import Engine
from scheduler.estimate import History
from scheduler.mix import mix_of
from scheduler.replay.meter import Grid, Meter, Sample, usual_demands
from scheduler.replay.run import Decider, Progress, Promises, Replay
from scheduler.replay.types import Arrival, Fate, Record, Report
from scheduler.replay.usage import RecentUse
from scheduler.rules import DEFAULT_RULES, Rules
from scheduler.types import Mix, Node, Queue

__all__ = [
    "Arrival",
    "Decider",
    "Fate",
    "Grid",
    "Progress",
    "Promises",
    "Record",
    "Report",
    "Sample",
    "simulate",
]


def simulate(
    nodes: Sequence[Node],
    arrivals: Sequence[Arrival],
    queues: Sequence[Queue] = (),
    rules: Rules = DEFAULT_RULES,
    history: History | None = None,
    mix: Mix | None = None,
    pass_every_s: float = 0.0,
    thin_after: float = math.inf,
    decide: Decider | None = None,
    grid: Grid | None = None,
    look_again_s: float = math.inf,
    keep_use: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Replay to the end, or over the span of `grid` with a sample per bucket. The module explains the parameters."""
    if grid is not None:
        arrivals = [arrival for arrival in arrivals if arrival.task.submitted_at < grid.end]
    first = min((arrival.task.submitted_at for arrival in arrivals), default=0.0)
    start = grid.start if grid is not None else first
    meter = Meter(grid, usual_demands(arrival.task for arrival in arrivals)) if grid is not None else None
    replay = Replay(
        Engine(nodes, mix=mix or mix_of(arrival.task for arrival in arrivals)),
        decide,
        history,
        rules,
        RecentUse(queues, start, kept=keep_use),
        meter,
        start,
        grid.end if grid is not None else math.inf,
        pass_every_s,
        thin_after,
        look_again_s,
        progress,
    )
    replay.run(arrivals)
    return _report(replay, start, grid)


def _report(replay: Replay, start: float, grid: Grid | None) -> Report:
    last = max((record.ended_at for record in replay.records), default=start)
    if grid is None:
        replay.stop_at = last
    unfinished = replay.close()
    busy = math.fsum(record.held_gpu_s for record in (*replay.records, *unfinished))
    evictions = sum(live.evictions for live in replay.live.values())
    span = grid.end - grid.start if grid is not None else last - start
    samples = tuple(replay.meter.samples) if replay.meter is not None else ()
    return Report(tuple(replay.records), tuple(unfinished), evictions, replay.passes, busy, span, samples)
