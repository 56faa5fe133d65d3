"""Room that was promised and starts that were estimated: kept, or the person is told otherwise."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from apps.workloads.choices import Status
from apps.workloads.models import Event, StartEstimate, Workload
from benchmarks.soak.look import Look, Said, cause_of

# What is shown is rounded to minutes, and written by the next pass.
SLACK = timedelta(minutes=2)


def no_promise_lies_in_the_past(look: Look) -> Iterator[str]:
    """Whoever was told a time and still waits when it is over is told another one: nobody reads a time gone by."""
    for workload in look.waiting:
        p90 = workload.explanation.get("start_p90")
        if p90 is not None and datetime.fromtimestamp(p90, UTC) < look.now - SLACK:
            told = datetime.fromtimestamp(p90, UTC)
            yield f"{look.who(workload)} is still shown a start by {told:%m-%d %H:%M} (p90)"
    _count(look)
    look.memory.said = {workload.pk: _said(look, workload) for workload in look.waiting}


def _said(look: Look, workload: Workload) -> Said:
    explanation, nodes = workload.explanation, tuple(workload.promised_nodes)
    return Said(look.now, cause_of(workload), explanation.get("start_p50"), explanation.get("start_p90"), nodes)


def _count(look: Look) -> None:
    """How promises of room fared since the last look: kept by a start there or for longer, moved, or dropped."""
    still = {workload.pk: workload for workload in look.waiting}
    for pk, said in look.memory.said.items():
        if not said.nodes:
            continue
        waits = still.get(pk)
        if waits is None:
            look.memory.counted["promises_ended"] += 1
        elif tuple(waits.promised_nodes) == said.nodes:
            look.memory.counted["promises_kept_on"] += 1
        else:
            look.memory.counted["promises_moved" if waits.promised_nodes else "promises_dropped"] += 1
            told = Event.objects.filter(workload_id=pk, at__gt=said.at).exists() or cause_of(waits) != said.cause
            look.memory.counted["promises_changed_untold"] += not told


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
