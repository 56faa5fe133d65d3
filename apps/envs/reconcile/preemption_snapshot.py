"""Environments that were asked to give way: their home is saved in a snapshot while the notice runs."""

from django.db import transaction

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.choices import KIND, Step
from apps.envs.models import Environment
from apps.envs.services.shared import tell_pages
from apps.workloads.choices import Status
from apps.workloads.models import Preemption


def save_before_leaving(actor: Actor) -> int:
    """Begin one snapshot for each notice; how many.

    The home outlives its programs with or without one, so nothing waits for it and one that fails loses nothing.
    While something else is being done to the environment, the next turn tries again.
    """
    rows = Preemption.objects.filter(
        ended_at__isnull=True, attempt__workload__kind=KIND, attempt__workload__status=Status.RUNNING
    )
    return sum(_save(notice) for notice in rows.select_related("attempt"))


def _save(notice: Preemption) -> bool:
    environment = Environment.objects.filter(workload_id=notice.attempt.workload_id, deleted_at__isnull=True).first()
    if environment is None or environment.operations.filter(created_at__gte=notice.asked_at).exists():
        return False
    try:
        with transaction.atomic():
            states.begin(environment, Step.SNAPSHOT, by_id=None)
            tell_pages(environment)
    except Conflict:
        return False
    return True
