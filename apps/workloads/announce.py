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
from apps.workloads.choices import Status
from apps.workloads.models import Event, Workload


def target(workload: Workload) -> Target:
    return Target("workload", str(workload.pk), workload.name)


def status_changed(actor: Actor, workload: Workload, before: str) -> None:
    """Event and audit row of a new status, in the transaction that wrote it."""
    event(actor, workload, "status", workload.reason_data)
    record(
        actor,
        action=f"workload.{workload.status}",
        target=target(workload),
        organisation_id=workload.organisation_id,
        before={"status": before},
        after={"status": workload.status, "reason": workload.reason},
    )
    _tell_owner(workload)


def _tell_owner(workload: Workload) -> None:
    """In the transaction of the end itself, so it is told exactly once. Some kinds' ends are told by their own apps."""
    told = kinds.kind_of(workload).notices
    what = told.ends.get(Status(workload.status))
    if what is None:
        return
    notice = f"{told.subject}.{what}"
    ran = workload.ended_at - workload.started_at if workload.started_at and workload.ended_at else None
    notify_user(
        organisation_id=workload.organisation_id,
        user_id=workload.owner_id,
        kind=notice,
        data={
            "workload_id": str(workload.pk),
            "name": workload.name,
            "seconds": round(ran.total_seconds()) if ran else 0,
            "reason": workload.reason,
        },
        dedup=f"{notice}:{workload.pk}:{workload.attempt_number}",
    )


def tell_owner(workload: Workload, what: str, data: Mapping[str, Any], key: str) -> None:
    """A notice about something that befell the workload; `key` tells one time from another."""
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
    publish_on_commit(groups, _message(row))


# What `events` reads of a workload.
EVENT_COLUMNS = ("id", "organisation_id", "attempt_number", "status", "reason")


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
    # A list needs to hear once that something in it changed, whatever the number.
    newest = {group: row for row in rows for group in (organisation_group(row.organisation_id), PLATFORM_GROUP)}
    watched = [(workload_group(row.workload_id), _message(row)) for row in rows]
    publish_many_on_commit([*watched, *((group, _message(row)) for group, row in newest.items())])


def _message(row: Event) -> dict[str, Any]:
    return {
        "type": "workload.event",
        "id": row.pk,
        "workload": str(row.workload_id),
        "kind": row.kind,
        "status": row.status,
    }


def progressed(workload: Workload) -> None:
    """Something on the page moved (a step, a percentage, a measurement); nothing worth keeping as an event."""
    publish_on_commit(
        [workload_group(workload.pk)],
        {
            "type": "workload.event",
            "id": 0,
            "workload": str(workload.pk),
            "kind": "progress",
            "status": workload.status,
        },
    )
