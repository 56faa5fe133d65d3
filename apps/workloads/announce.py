"""What is written and sent when a workload changes: its event, the audit row, the nudges."""

from collections.abc import Mapping
from typing import Any

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.live import (
    PLATFORM_GROUP,
    organisation_group,
    publish_many_on_commit,
    publish_on_commit,
    workload_group,
)
from apps.notifications.services import notify_user
from apps.workloads import kinds
from apps.workloads.choices import Reason, Status
from apps.workloads.ended import end_data
from apps.workloads.models import Event, Workload

# Rules of an owner that stop work while nobody looks; other rules' ends are told by their own apps.
TOLD_RULES = frozenset({Reason.LONGEST, Reason.GPU_IDLE, Reason.TIMED})


def target(workload: Workload) -> Target:
    return Target("workload", str(workload.pk), workload.name)


def status_changed(actor: Actor, workload: Workload, before: str, *, tell: bool = True) -> None:
    """Event and audit row of a new status, in the transaction that wrote it. `tell`: its owner, too."""
    event(actor, workload, "status", workload.reason_data)
    record(
        actor,
        action=f"workload.{workload.status}",
        target=target(workload),
        organisation_id=workload.organisation_id,
        before={"status": before},
        after={"status": workload.status, "reason": workload.reason},
    )
    if tell:
        tell_of_end(actor, workload)


def tell_of_end(actor: Actor, workload: Workload) -> None:
    """In the transaction of the end itself, so it is told exactly once. Some kinds' ends are told by their own apps."""
    if workload.replica_set_id is not None:  # they come and go as their set is scaled
        return
    told = kinds.kind_of(workload).notices
    what = told.ends.get(Status(workload.status))
    if workload.status == Status.STOPPED and workload.reason in TOLD_RULES:
        what = "stopped_by_rule"
    if what is None or (told.apart is not None and not told.apart(workload)):
        return
    notice = f"{told.subject}.{what}"
    facts = told.facts(workload) if told.facts is not None else {}
    notify_user(
        organisation_id=workload.organisation_id,
        user_id=workload.owner_id,
        kind=notice,
        data={"workload_id": str(workload.pk), "name": workload.name, **end_data(actor, workload, facts)},
        dedup=f"{notice}:{workload.pk}:{workload.attempt_number}",
    )


# What ends replicas ends or shrinks their set, which is told once for all of them (`replicas.notices`).
TOLD_OF_SETS = frozenset({"stopped_unpaid", "not_started"})


def tell_owner(workload: Workload, what: str, data: Mapping[str, Any], key: str) -> None:
    """A notice about something that befell the workload; `key` tells one time from another."""
    if workload.replica_set_id is not None and what in TOLD_OF_SETS:
        return
    notice = f"{kinds.kind_of(workload).notices.subject}.{what}"
    notify_user(
        organisation_id=workload.organisation_id,
        user_id=workload.owner_id,
        kind=notice,
        data={"workload_id": str(workload.pk), "name": workload.name, **data},
        dedup=f"{notice}:{key}",
    )


def event(actor: Actor, workload: Workload, kind: str, data: dict[str, Any]) -> None:
    """Append one event and tell the browsers that watch this workload or its organisation."""
    row = Event.objects.create(
        organisation_id=workload.organisation_id,
        workload=workload,
        attempt_number=workload.attempt_number,
        kind=kind,
        status=workload.status,
        reason=workload.reason,
        data=data,
        actor_label=actor.label,
    )
    groups = [workload_group(workload.pk), organisation_group(workload.organisation_id), PLATFORM_GROUP]
    publish_on_commit(groups, _message(workload, kind, row.pk))


# What `events` reads of a workload.
EVENT_COLUMNS = ("id", "organisation_id", "owner_id", "kind", "attempt_number", "status", "reason")


def events(actor: Actor, kind: str, data: Mapping[Workload, dict[str, Any]]) -> None:
    """The same for many workloads in one statement."""
    rows = Event.objects.bulk_create(
        Event(
            organisation_id=workload.organisation_id,
            workload=workload,
            attempt_number=workload.attempt_number,
            kind=kind,
            status=workload.status,
            reason=workload.reason,
            data=said,
            actor_label=actor.label,
        )
        for workload, said in data.items()
    )
    watched = [([workload_group(row.workload_id)], _message(row.workload, kind, row.pk)) for row in rows]
    # A list needs to hear once that something in it changed, whatever the number.
    newest = {(row.organisation_id, row.workload.owner_id, row.workload.kind): row for row in rows}
    lists = [
        ([organisation_group(organisation_id), PLATFORM_GROUP], _message(row.workload, kind, row.pk))
        for (organisation_id, _owner, _kind), row in newest.items()
    ]
    publish_many_on_commit([*watched, *lists])


def _message(workload: Workload, kind: str, event_id: int) -> dict[str, Any]:
    """`of` and `owner` decide who may hear of it; pages are not told the owner."""
    return {
        "type": "workload.event",
        "id": event_id,
        "workload": str(workload.pk),
        "kind": kind,
        "status": workload.status,
        "of": workload.kind,
        "owner": workload.owner_id,
    }


def progressed(workload: Workload) -> None:
    """Something on the page moved (a step, a percentage, a measurement); nothing worth keeping as an event."""
    publish_on_commit([workload_group(workload.pk)], _message(workload, "progress", 0))
