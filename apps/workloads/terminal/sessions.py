"""Open and end terminals in running programs: who may, how many, and what the operation log has of it."""

import time
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, system_actor
from apps.common.clock import db_now
from apps.common.errors import QuotaExceeded
from apps.common.scoping import acting
from apps.tenants.models import User
from apps.workloads import activity, reach, selectors
from apps.workloads.choices import Source
from apps.workloads.drivers.streams import ExecStream
from apps.workloads.models import Activity, Workload
from apps.workloads.permissions import may_use_terminal

MOST_PER_PERSON = 10
# The owner's shell where the image has it, in the program's own working directory and environment.
SHELL = ("sh", "-c", 'for s in "$SHELL" bash sh; do command -v "$s" >/dev/null 2>&1 && exec "$s"; done')
VARIABLES = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@dataclass(slots=True)
class Session:
    """One open terminal. `began`: monotonic seconds."""

    workload: Workload
    rank: int
    stream: ExecStream
    id: str = field(default_factory=lambda: uuid4().hex)
    began: float = field(default_factory=time.monotonic)


def visible_workload(actor: Actor, workload_id: UUID) -> Workload:
    """A workload in which the actor may use a terminal. Raises `NotFound`, `Denied`."""
    workload = selectors.get(actor, workload_id)
    may_use_terminal(actor, workload)
    return workload


def open_terminal(actor: Actor, workload_id: UUID, rank: int) -> Session:
    """A shell beside the program of this rank, at a terminal.

    Raises what `reach.exec` does, and `QuotaExceeded` while the person has `MOST_PER_PERSON` of them open.
    """
    with acting(actor):
        workload = visible_workload(actor, workload_id)
        name = uuid4().hex
        _reserve(actor, workload, name)
        try:
            stream = reach.exec(actor, workload, SHELL, True, VARIABLES, rank=rank)
        except BaseException:
            _write(workload, name, 0)
            raise
        session = Session(workload, rank, stream, name)
        try:
            record_opened(actor, workload, rank)
        except BaseException:
            stream.close()
            _write(workload, name, 0)
            raise
        return session


def keep(session: Session, *, typed: bool) -> None:
    """Tell that it is still open: to be repeated within every minute. `typed`: whether it was used since."""
    seen = activity.Seen(connections=1, requested=typed, typed=typed)
    activity.write_activity(Source.TERMINAL, session.id, {session.workload.pk: seen})


def ended(actor: Actor, session: Session, *, why: str, code: int | None) -> None:
    """Write down that it has ended. `why`: a word for the operation log; `code`: the shell's own, if it has ended."""
    with acting(actor):
        _write(session.workload, session.id, 0)
        seconds = time.monotonic() - session.began
        record_closed(actor, session.workload, session.rank, seconds=seconds, why=why, code=code)


def record_opened(actor: Actor, workload: Workload, rank: int) -> None:
    record(
        actor,
        action="terminal.opened",
        target=Target("workload", str(workload.pk), workload.name),
        organisation_id=workload.organisation_id,
        after={"rank": rank},
    )


def record_closed(
    actor: Actor, workload: Workload, rank: int, *, seconds: float, why: str, code: int | None = None
) -> None:
    after = {"rank": rank, "seconds": round(seconds), "why": why}
    record(
        actor,
        action="terminal.closed",
        target=Target("workload", str(workload.pk), workload.name),
        organisation_id=workload.organisation_id,
        after=after if code is None else {**after, "exit_code": code},
    )


@transaction.atomic
def _reserve(actor: Actor, workload: Workload, name: str) -> None:
    """Count it as open, unless too many are: two at the same moment wait for each other on the person's row."""
    with acting(system_actor()):
        User.objects.select_for_update(no_key=True).get(pk=actor.person())
        if _open_count(actor.person()) >= MOST_PER_PERSON:
            raise QuotaExceeded(
                _("You have %(count)d terminals open: close one of them first.") % {"count": MOST_PER_PERSON}
            )
    _write(workload, name, 1)


def _open_count(person: int) -> int:
    """In all organisations that the person works in. Those of a process that died stop counting after a minute."""
    alive = Activity.objects.filter(
        source=Source.TERMINAL, workload__owner_id=person, heartbeat_at__gte=db_now() - activity.ALIVE
    )
    return int(alive.aggregate(count=Sum("connections"))["count"] or 0)


def _write(workload: Workload, name: str, connections: int) -> None:
    activity.write_activity(Source.TERMINAL, name, {workload.pk: activity.Seen(connections=connections)})
