"""Start an array, end it, and try again what failed in it."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.training import services as training
from apps.training.arrays import selectors
from apps.training.arrays.lines import MOST_LINES, Line
from apps.training.choices import KIND
from apps.training.models import ArrayLine, Run, RunArray
from apps.workloads import services as workloads
from apps.workloads.choices import Status
from apps.workloads.permissions import may_manage

AT_ONCE = "at_once"


def start(actor: Actor, request: training.Request, lines: Sequence[Line], *, at_once: int | None = None) -> RunArray:
    """One run now, of the first line; the others follow by the loop. The same key again returns the array made first.

    Raises what `training.services.submit` does: then there is neither an array nor a run.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    if at_once is not None and not 1 <= at_once <= MOST_LINES:
        raise Invalid.field(AT_ONCE, _("Give a number from 1 to %(most)s.") % {"most": MOST_LINES})
    made = _made(actor, request.key)
    if made is not None:
        return made
    try:
        with transaction.atomic():
            return _start(actor, request, lines, at_once)
    except IntegrityError:  # the same key, sent twice at once
        made = _made(actor, request.key)
        if made is None:
            raise
        return made


def _made(actor: Actor, key: str) -> RunArray | None:
    found: RunArray | None = RunArray.objects.filter(owner_id=actor.user_id, key=key).first()
    return found


def _start(actor: Actor, request: training.Request, lines: Sequence[Line], at_once: int | None) -> RunArray:
    whose = {"organisation_id": actor.organisation()}
    array: RunArray = RunArray.objects.create(
        **whose, owner_id=actor.person(), name=training.clean_name(request.name), key=request.key, at_once=at_once
    )
    rows = ArrayLine.objects.bulk_create(
        ArrayLine(**whose, array=array, number=number, arguments=[list(pair) for pair in line.arguments])
        for number, line in enumerate(lines, start=1)
    )
    submit_line(actor, rows[0], request)
    record(
        actor,
        action="run_array.started",
        target=Target("run_array", str(array.pk), array.name),
        after={"lines": len(rows), "at_once": at_once},
    )
    return array


def submit_line(actor: Actor, line: ArrayLine, like: training.Request) -> Run:
    """A run with the line's arguments, otherwise as `like`. Call in the transaction in which the line was due."""
    arguments = tuple((name, value) for name, value in line.arguments)
    asked = replace(like, arguments=arguments, key=_key(line), array_line_id=line.pk)
    run = training.submit(actor, asked)
    _tried(line)
    return run


def submit_again(actor: Actor, line: ArrayLine, run: Run) -> Run:
    """The next try of a line of which `run` was the last."""
    again = training.rerun(actor, run, key=_key(line))
    _tried(line)
    return again


def submit_like(actor: Actor, line: ArrayLine, first: Run) -> Run:
    """A further line of the array that began with `first`, within what its owner may run now."""
    like = training.request_of(first, key="")
    most = workloads.highest_priority(actor)
    return submit_line(actor, line, replace(like, priority=min(first.workload.priority, most)))


def _key(line: ArrayLine) -> str:
    """Once for each try, whatever key the array was asked for with."""
    return f"array-{line.array_id.hex}-{line.number}-{line.runs.count() + 1}"


def _tried(line: ArrayLine) -> None:
    ArrayLine.objects.filter(pk=line.pk).update(due=False, refused="")


def stop(actor: Actor, array: RunArray) -> int:
    """Nothing of it starts any more, and what lives is asked to stop; how many runs that were, and lines not started.

    Raises `Conflict` where nothing waits and nothing lives.
    """
    may_manage(actor, KIND, array.owner_id)
    with transaction.atomic():
        list(RunArray.objects.select_for_update(no_key=True).filter(pk=array.pk))
        waiting = ArrayLine.objects.filter(array=array, due=True).update(due=False)
        RunArray.objects.filter(pk=array.pk).update(waits="")
        if waiting:
            _record(actor, array, "run_array.stopped", {"lines_not_started": waiting})
    live = [line.run for line in selectors.lines(array) if line.run is not None and line.run.workload.is_live]
    live = [run for run in live if run.workload.status != Status.STOPPING]
    if not waiting and not live:
        raise Conflict(_("All of its runs have ended, or are about to."))
    for run in live:
        _stop_run(actor, run)
    return waiting + len(live)


def _stop_run(actor: Actor, run: Run) -> None:
    try:
        training.stop(actor, run)
    except Conflict:  # it has just ended
        return


def rerun_failed(actor: Actor, array: RunArray) -> int:
    """Try again each line whose last run failed, or that was refused; how many. Raises `Conflict` without any."""
    may_manage(actor, KIND, array.owner_id)
    with transaction.atomic():
        list(RunArray.objects.select_for_update(no_key=True).filter(pk=array.pk))
        failed = [line.row.pk for line in selectors.lines(array) if line.failed]
        again = ArrayLine.objects.filter(Q(pk__in=failed), due=False).update(due=True, refused="")
        if not again:
            raise Conflict(_("None of its lines has failed."))
        RunArray.objects.filter(pk=array.pk).update(waits="", next_try_at=db_now())
        _record(actor, array, "run_array.rerun", {"lines": again})
    return again


def _record(actor: Actor, array: RunArray, action: str, after: dict[str, int]) -> None:
    target = Target("run_array", str(array.pk), array.name)
    record(actor, action=action, organisation_id=array.organisation_id, target=target, after=after)
