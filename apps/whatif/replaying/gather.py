"""Gather side A of a scenario: past arrivals, and the present state."""

import gzip
import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from apps.common.clock import db_now
from apps.tenants.models import Organisation
from apps.whatif.choices import Hardware, Source
from apps.whatif.models import Scenario, Trace
from apps.whatif.replaying import past, sample, traces
from apps.whatif.replaying.hardware import nodes_of
from apps.whatif.replaying.material import Material, Times
from apps.workloads.queueing import policy
from apps.workloads.reconcile.queues import queues
from scheduler.types import Amount, Queue, QueueLevel


def side_a(scenario: Scenario) -> Material:
    """Call in the platform's scope. Reads; writes nothing."""
    now, hardware = db_now(), Hardware(scenario.hardware)
    nodes, machines = nodes_of(hardware, scenario.plain_nodes, now)
    rules = policy.rules()
    bare = Material(
        scenario.start.timestamp(),
        scenario.end.timestamp(),
        nodes,
        (),
        _queues(now, hardware),
        times=Times(float(rules.notice_s), float(rules.save_s), float(rules.min_runtime_s), rules.firm_over_guarantee),
        machines=machines,
    )
    if scenario.source == Source.HISTORY:
        return _of_past(bare, scenario, simulated=hardware is Hardware.SIMULATED)
    return _of_trace(bare, lines_of(scenario.trace))


def lines_of(trace: Trace | None) -> tuple[traces.Line, ...]:
    """The tasks of an uploaded trace, or of the sample."""
    if trace is None:
        return sample.lines()
    with gzip.open(io.BytesIO(bytes(trace.content)), "rt", encoding="utf-8", newline="") as text:
        return tuple(traces.read(text))


def between(lines: Iterable[traces.Line], start: datetime, end: datetime) -> tuple[traces.Line, ...]:
    """Tasks that arrive inside the span; it is unknown whether earlier ones were still there."""
    first, last = start.timestamp(), end.timestamp()
    return tuple(line for line in lines if first <= line.arrival.task.submitted_at < last)


def _of_past(bare: Material, scenario: Scenario, simulated: bool) -> Material:
    found = past.past_between(scenario.start, scenario.end, simulated)
    return replace(
        bare,
        arrivals=found.arrivals,
        past=found.past,
        rates=found.rates,
        packages=found.packages,
        organisations=found.organisations,
        users=found.users,
        guessed=found.guessed,
        left_out=found.left_out,
    )


def _of_trace(bare: Material, lines: Iterable[traces.Line]) -> Material:
    """A trace has names instead of the platform's keys, so queues are found by the organisations' names."""
    start = datetime.fromtimestamp(bare.start).astimezone()
    here = between(lines, start, datetime.fromtimestamp(bare.end).astimezone())
    arrivals = tuple(line.arrival for line in here)
    organisations = {arrival.task.organisation for arrival in arrivals}
    users = {arrival.task.user for arrival in arrivals}
    names = {str(pk): name for pk, name in Organisation.objects.values_list("pk", "name")}
    return replace(
        bare,
        arrivals=arrivals,
        queues=_by_name(bare.queues, names, organisations),
        rates={line.arrival.task.id: line.rate for line in here if line.rate is not None},
        organisations={name: name for name in organisations},
        users={name: name for name in users},
    )


def _queues(now: datetime, hardware: Hardware) -> tuple[Queue, ...]:
    """Weights and guarantees as they are. Recent use begins at nothing; what is over a quota today was not then."""
    found = queues(now, simulated=hardware is Hardware.SIMULATED)
    return tuple(replace(queue, decayed_usage={}, limit=Amount()) for queue in found)


def _by_name(found: Iterable[Queue], names: dict[str, str], wanted: set[str]) -> tuple[Queue, ...]:
    kept = {
        names[queue.id]: replace(queue, id=names[queue.id], organisation=names[queue.id])
        for queue in found
        if queue.level is QueueLevel.ORGANISATION and names.get(queue.id) in wanted
    }
    rest = {name: Queue(QueueLevel.ORGANISATION, name, name) for name in sorted(wanted - set(kept))}
    return tuple((kept | rest).values())
