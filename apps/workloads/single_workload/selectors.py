"""Find one row among those that the actor may see."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import models
from django.db.models import QuerySet

from apps.billing import selectors as funds
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.waiting import queue_card

Model = TypeVar("Model", bound=models.Model)


def one(rows: QuerySet[Model], **which: Any) -> Model:
    """`NotFound` where there is none, or the actor may not see it."""
    found = rows.filter(**which).first()
    if found is None:
        raise NotFound
    return found


def present_state(actor: Actor, workload: Workload) -> Mapping[str, Any]:
    """What the page of a workload shows of it, whatever its kind. `cost` only to who may see money."""
    attempt = workloads.current_attempt(workload)
    sees_money = actor.may(Permission.BILLING_VIEW_OWN)
    return {
        "workload": workload,
        "attempt": attempt,
        "has_log": attempt is not None and attempt.handle is not None,
        "log_socket": f"/ws/logs/{workload.pk}/?rank=0&attempt={attempt.number if attempt else 1}",
        "wait": queue_card(actor, workload) if workload.status == Status.QUEUED else None,
        "cost": funds.workload_cost(actor, workload_id=workload.pk) if sees_money else None,
    }
