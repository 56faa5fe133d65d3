"""The only place that writes the status of a deployment, with its row in the audit log.

Each verb needs a transaction in which the caller holds the service's row: one deployment gets ready and one serves at a
time, and both change hands in one commit.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.serving.choices import DeploymentStatus as Status
from apps.serving.choices import Ending
from apps.serving.models import Deployment

TRANSITIONS: Mapping[Status, frozenset[Status]] = {
    Status.PREPARING: frozenset({Status.ACTIVE, Status.FAILED, Status.ENDED}),
    Status.ACTIVE: frozenset({Status.DRAINING, Status.ENDED}),
    Status.DRAINING: frozenset({Status.ENDED}),
    Status.ENDED: frozenset(),
    Status.FAILED: frozenset(),
}


class WrongMove(RuntimeError):
    """Somebody else moved it meanwhile, which the lock on the service rules out."""


def create(actor: Actor, deployment: Deployment) -> None:
    """`IntegrityError` where another one is getting ready."""
    deployment.save(force_insert=True)
    _note(actor, deployment, "")


def activate(actor: Actor, deployment: Deployment) -> None:
    """The door leads to it from now on; the one that was active has to drain first."""
    _move(actor, deployment, Status.ACTIVE, active_at=db_now())


def drain(actor: Actor, deployment: Deployment, reason: Ending) -> None:
    """The door leads nobody there any more, and what it works on is finished."""
    _move(actor, deployment, Status.DRAINING, reason=reason, draining_since=db_now())


def end(actor: Actor, deployment: Deployment, reason: Ending, at: datetime | None = None) -> None:
    """Over, for a reason that is nobody's fault."""
    kept = {} if deployment.reason else {"reason": reason}
    _move(actor, deployment, Status.ENDED, ended_at=at or db_now(), **kept)


def fail(actor: Actor, deployment: Deployment, reason: Ending, data: Mapping[str, Any]) -> None:
    """It never served."""
    _move(actor, deployment, Status.FAILED, reason=reason, reason_data=dict(data), ended_at=db_now())


def _move(actor: Actor, deployment: Deployment, to: Status, **columns: Any) -> None:
    came_from = Status(deployment.status)
    if to not in TRANSITIONS[came_from]:
        raise WrongMove(f"{came_from} to {to}")
    rows = Deployment.objects.filter(pk=deployment.pk, status=came_from)
    if not rows.update(status=to, **columns):
        raise WrongMove(f"{came_from} to {to}")
    deployment.status = to
    for name, value in columns.items():
        setattr(deployment, name, value)
    _note(actor, deployment, came_from)


def _note(actor: Actor, deployment: Deployment, before: str) -> None:
    after = {"status": str(deployment.status), "version": deployment.version.number}
    record(
        actor,
        action=f"serving.deployment_{deployment.status}",
        target=Target("service", str(deployment.service_id), deployment.service.name),
        organisation_id=deployment.organisation_id,
        before={"status": before} if before else {},
        after=after | ({"reason": str(deployment.reason)} if deployment.reason else {}),
    )
