"""One side through the scheduler. Knows no web framework: it runs in a process of its own."""

from collections.abc import Callable
from dataclasses import replace

from apps.whatif.replaying.material import Material
from scheduler.estimate import History
from scheduler.replay import Arrival, Grid, Report
from scheduler.rules import DEFAULT_RULES
from scheduler.simulate import simulate

BUCKETS = 120
# Passes are at least so far apart, and further over a long queue; while somebody waits there is one at least so often.
EVERY_S, THIN_AFTER, AGAIN_S = 10.0, 50.0, 300.0


def replay(material: Material, tell: Callable[[float], None]) -> Report:
    """The report over the material's span. `tell` hears the share of the span that is done; what it raises ends it."""
    times, span = material.times, material.end - material.start
    rules = replace(
        DEFAULT_RULES,
        notice_s=times.notice_s,
        save_window_s=times.save_s,
        firm_over_guarantee=times.firm_over_guarantee,
        explain=False,
    )
    history = History()
    for task, seconds in material.past:
        history.record(task, seconds)
    return simulate(
        material.nodes,
        [_with_least_run(arrival, times.min_runtime_s) for arrival in material.arrivals],
        material.queues,
        rules,
        history,
        pass_every_s=EVERY_S,
        thin_after=THIN_AFTER,
        look_again_s=AGAIN_S,
        grid=Grid(material.start, material.end, BUCKETS),
        keep_use=True,
        progress=lambda now: tell((now - material.start) / span),
    )


def _with_least_run(arrival: Arrival, seconds: float) -> Arrival:
    return replace(arrival, task=replace(arrival.task, min_runtime_s=seconds))
