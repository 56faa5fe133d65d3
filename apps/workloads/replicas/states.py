"""The only place that writes what a set of replicas should be.

Each verb needs a transaction in which the caller holds the set's row, as `locked` gives it.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from apps.audit.services import Target, record
from apps.billing import services as billing
from apps.common.actor import Actor
from apps.workloads.choices import Desired
from apps.workloads.models import ReplicaSet
from apps.workloads.replicas import notices
from apps.workloads.states import Why


def target(found: ReplicaSet) -> Target:
    return Target("replica_set", str(found.pk), found.name)


def locked(set_id: UUID, *, skip_locked: bool = False) -> ReplicaSet | None:
    """None where there is no such set, or, with `skip_locked`, while somebody else changes it."""
    rows = ReplicaSet.objects.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)
    found: ReplicaSet | None = rows.filter(pk=set_id).first()
    return found


def create(actor: Actor, found: ReplicaSet) -> None:
    """`IntegrityError` where its key was used meanwhile."""
    found.save(force_insert=True)
    _note(actor, found, "started", {}, {"wanted": found.wanted})


def want(actor: Actor, found: ReplicaSet, wanted: int, why: Why | None = None) -> None:
    """Another number of replicas; `why`: where no person scales it."""
    before, found.wanted = found.wanted, wanted
    found.save(update_fields=["wanted"])
    reason = {"reason": why.reason.value} if why else {}
    _note(actor, found, "scaled", {"wanted": before}, {"wanted": wanted, **reason})
    if why is not None:
        notices.tell_smaller(actor, found, before, why)


def end(actor: Actor, found: ReplicaSet, why: Why) -> None:
    """Nobody wants any of it any more; the first reason stands."""
    if found.desired == Desired.STOPPED:
        return
    found.desired, found.reason, found.reason_data = Desired.STOPPED, why.reason, dict(why.data)
    found.save(update_fields=["desired", "reason", "reason_data"])
    _note(actor, found, "stopping", {}, {"reason": why.reason.value})
    notices.tell_ended(actor, found, why)


def ended(actor: Actor, found: ReplicaSet, at: datetime) -> None:
    """Its last replica had ended at `at`."""
    found.ended_at = at
    found.save(update_fields=["ended_at"])
    billing.close_cap(found.pk, at=at)
    _note(actor, found, "stopped", {}, {})


def _note(actor: Actor, found: ReplicaSet, what: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    record(
        actor,
        action=f"replica_set.{what}",
        target=target(found),
        organisation_id=found.organisation_id,
        before=before,
        after=after,
    )
