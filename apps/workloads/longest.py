"""The longest run time of what runs: told before it is over, saved and stopped then, changed by its owner meanwhile.

The row says when it is over (`Workload.deadline_at`) and a loop acts, so whoever dies, the next turn goes on.
Nothing is stopped before its deadline. A change and a stop that meet are ordered by the row: the stop asks for a
deadline that is still over, the change for work that is not being stopped.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.audit.services import record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.formatting import duration
from apps.workloads import announce, deadlines, nudge, saving, time_limits
from apps.workloads.choices import Reason, Status
from apps.workloads.idle_rule import WARN_BEFORE, warn_before
from apps.workloads.models import Workload
from apps.workloads.permissions import may_change
from apps.workloads.queueing.policy import rules
from apps.workloads.run_times import LEAST_S, RunTimes

EVENT = "longest"
"""The kind of its events. Data: `longest_s` (None: no limit any more) and `before_s`."""

# From the first request to end until it has to have ended; what others wait for counts on it (`requested.ENDING_S`).
MOST_SAVING = timedelta(minutes=5)


def set_longest(actor: Actor, workload: Workload, longest_s: int | None) -> None:
    """Change after how long it is stopped, None for never; seconds of running in all. A stop at the former time is
    called off, where nothing has been ended yet.

    Raises `Conflict` once it is ending, `Invalid` for a time that it has run for already, or nearly, or for more than
    its organisation allows.
    """
    may_change(actor, workload)
    with transaction.atomic():
        row: Workload = Workload.objects.select_for_update(of=("self",), no_key=True).get(pk=workload.pk)
        if not row.is_live or row.status == Status.STOPPING:
            raise Conflict(_("This has ended already, or is about to."))
        RunTimes(None, longest_s).check()
        time_limits.refuse_raise(row, longest_s)
        deadline = deadlines.deadline_of(row, longest_s) if longest_s is not None else None
        _refuse_past(row, deadline)
        before = row.longest_s
        Workload.objects.filter(pk=row.pk).update(longest_s=longest_s, deadline_at=deadline)
        saving.call_off(actor, row, Reason.LONGEST)
        _tell(actor, row, before, longest_s)
    workload.refresh_from_db()
    nudge.schedule()


def _refuse_past(row: Workload, deadline: datetime | None) -> None:
    now = db_now()
    if deadline is not None and deadline < now + timedelta(seconds=LEAST_S):
        ran = (now - (row.started_at or now) + deadlines.used_before(row)).total_seconds()
        raise Invalid.field(
            "longest",
            _("It has run for %(time)s already. Give at least a minute more than that.") % {"time": duration(ran)},
        )


def _tell(actor: Actor, row: Workload, before: int | None, after: int | None) -> None:
    announce.event(actor, row, EVENT, {"longest_s": after, "before_s": before, "by": actor.label})
    record(
        actor,
        action="workload.longest",
        target=announce.target(row),
        organisation_id=row.organisation_id,
        before={"longest_s": before},
        after={"longest_s": after},
    )


def enforce_longest(actor: Actor) -> int:
    """Tell owners whose time is nearly over, and have saved and stopped what has none left; how many of these."""
    now = db_now()
    near = Workload.objects.filter(status=Status.RUNNING, deadline_at__lte=now + WARN_BEFORE, stop_reason="")
    return sum(_act(actor, workload, now) for workload in near.order_by("deadline_at"))


def _act(actor: Actor, workload: Workload, now: datetime) -> bool:
    end = workload.deadline_at
    if end is None or workload.longest_s is None:
        return False
    if end <= now:
        over = Q(deadline_at__lte=now, status=Status.RUNNING)
        return saving.ask(actor, workload, Reason.LONGEST, by=now + saving_time(), only=over)
    if told_from(end, workload.longest_s) <= now:
        _warn(workload, end)
    return False


def _warn(workload: Workload, end: datetime) -> None:
    """Once for each deadline."""
    with transaction.atomic():
        rows = Workload.objects.filter(pk=workload.pk, deadline_at=end)
        rows = rows.filter(Q(deadline_told_at__isnull=True) | ~Q(deadline_told_at=end))
        if rows.update(deadline_told_at=end):
            data = {"at": end.isoformat(), "longest_s": workload.longest_s}
            announce.tell_owner(workload, "time_nearly_over", data, f"{workload.pk}:{end.isoformat()}")
            announce.progressed(workload)


def told_from(end: datetime, longest_s: int) -> datetime:
    """When people are told of a deadline."""
    return end - warn_before(timedelta(seconds=longest_s))


def saving_time() -> timedelta:
    """How long what is stopped by its owner's own rule may take to save."""
    return min(rules().save, MOST_SAVING)
