"""Room that was promised and starts that were estimated: kept, or the person is told otherwise."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from apps.workloads.choices import Status
from apps.workloads.models import Event, StartEstimate, Workload
from apps.workloads.queueing import promises
from benchmarks.soak.look import Look, Said

# What is shown is rounded to minutes, and written by the next pass.
SLACK = timedelta(minutes=2)


def no_promise_lies_in_the_past(look: Look) -> Iterator[str]:
    """Whoever was told a time and still waits when it is over is told another one: nobody reads a time gone by."""
    for workload in look.waiting:
        p90 = workload.explanation.get("start_p90")
        if p90 is not None and datetime.fromtimestamp(p90, UTC) < look.now - SLACK:
            told = datetime.fromtimestamp(p90, UTC)
            yield f"{look.who(workload)} is still shown a start by {told:%m-%d %H:%M} (p90)"


def a_promise_is_kept_or_its_breach_told(look: Look) -> Iterator[str]:
    """Room that somebody was told of is there still or has an event of its loss; what is shown is what is kept."""
    still = {workload.pk: workload for workload in look.waiting}
    for pk, said in look.memory.said.items():
        waits = still.get(pk)
        if not said.nodes:
            continue
        if waits is None or waits.attempt_number != said.attempt:
            look.memory.counted["promises_ended"] += 1
        elif _shown(waits) == said.nodes:
            look.memory.counted["promises_kept_on"] += 1
        else:
            look.memory.counted["promises_moved" if _shown(waits) else "promises_dropped"] += 1
            if not Event.objects.filter(workload_id=pk, kind=promises.EVENT, at__gt=said.at).exists():
                yield f"{look.who(waits)} lost its room on {', '.join(sorted(said.nodes))} and was not told"
    for workload in look.waiting:
        if lacking := _shown(workload) - set(workload.promised_nodes):
            yield f"{look.who(workload)} is told of room on {', '.join(sorted(lacking))}, which is not kept"
    look.memory.said = {workload.pk: _said(look, workload) for workload in look.waiting}


def _said(look: Look, workload: Workload) -> Said:
    return Said(look.now, workload.attempt_number, _shown(workload))


def _shown(workload: Workload) -> frozenset[str]:
    """Nodes on which its page says that room is kept for it."""
    return frozenset(workload.explanation.get("reserved") or ())


def estimates_are_scored(look: Look) -> Iterator[str]:
    """The estimate of a stay that ended with a start says when that was; of one that goes on, nothing yet."""
    rows = StartEstimate.objects.filter(made_at__gt=look.now - timedelta(days=2)).select_related("workload")
    for row in rows.order_by("pk"):
        workload = row.workload
        waits_on = workload.status == Status.QUEUED and workload.attempt_number == row.after_attempt
        if waits_on and row.started_at is not None:
            yield f"the estimate of {look.who(workload)} is scored although it has not started"
        elif workload.attempt_number > row.after_attempt and row.started_at is None:
            yield f"the estimate of {look.who(workload)} was never scored, attempt {workload.attempt_number} was"


def promised_machines_can_keep_it(look: Look) -> Iterator[str]:
    """Room is promised only where the workload could run, and only to what waits."""
    able = {str(machine.node.pk): machine for machine in look.machines}
    for workload in look.waiting:
        for pk in workload.promised_nodes:
            machine = able.get(pk)
            if machine is None:
                yield f"{look.who(workload)} is promised room on {pk}, which is not there"
            elif not machine.could_ever_hold(workload):
                yield f"{look.who(workload)} is promised room on {machine.node.name}, which could never hold it"
    for gone in Workload.objects.filter(promised_at__isnull=False).exclude(status=Status.QUEUED):
        yield f"{look.who(gone)} has room promised although it does not wait"
