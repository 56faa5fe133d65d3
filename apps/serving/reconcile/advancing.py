"""The loop that takes deployments on: what is ready takes over, what was replaced drains and ends, what fails is told.

Safe to repeat, and to be killed anywhere: each step is one transaction under the service's lock.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Min

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.serving import notices, services, states
from apps.serving.choices import DRAIN_S, MOST_RESTARTS, OPEN, START_S, DeploymentStatus, Ending
from apps.serving.models import Deployment, Service
from apps.serving.reconcile import going_back
from apps.serving.selectors import is_ready, serving
from apps.workloads.choices import LIVE, Desired, Reason, Status
from apps.workloads.drivers.base import ExitReason
from apps.workloads.models import Attempt, Workload

log = logging.getLogger(__name__)


def sweep(actor: Actor) -> int:
    """Look at every service that runs something; how many. One's trouble keeps no other from being looked at."""
    due = list(Deployment.objects.filter(status__in=OPEN).values_list("service_id", flat=True).distinct())
    for service_id in due:
        try:
            advance(actor, service_id)
        except Exception:
            log.exception("the deployments of service %s could not be taken on", service_id)
    return len(due)


def advance(actor: Actor, service_id: UUID) -> None:
    """One service; while somebody else is at it, theirs is enough."""
    with transaction.atomic():
        service = services.locked(service_id, skip_locked=True)
        if service is None:
            return
        if service.stops_at is not None and service.stops_at <= db_now():
            services.stop(actor, service.pk, Ending.TIME_IS_UP)
        for deployment in _open(service):
            _advance(actor, deployment)


def _open(service: Service) -> list[Deployment]:
    rows = Deployment.objects.filter(service=service, status__in=OPEN)
    return list(rows.select_related("version", "service__owner", "replica_set").order_by("created_at"))


def _advance(actor: Actor, deployment: Deployment) -> None:
    found = deployment.replica_set
    if deployment.status == DeploymentStatus.DRAINING:
        _end_drained(actor, deployment)
    elif found.desired == Desired.STOPPED:
        _replicas_ended(actor, deployment)
    elif deployment.status == DeploymentStatus.PREPARING:
        _take_on(actor, deployment)
    elif deployment.status == DeploymentStatus.ACTIVE:
        going_back.watch(actor, deployment)


def _end_drained(actor: Actor, deployment: Deployment) -> None:
    since = deployment.draining_since or db_now()
    if db_now() - since >= timedelta(seconds=DRAIN_S):
        why = Reason.TIMED if deployment.reason == Ending.TIME_IS_UP else Reason.BY_PERSON
        services.stop_replicas(actor, deployment, why)
        states.end(actor, deployment, Ending(deployment.reason))


def _replicas_ended(actor: Actor, deployment: Deployment) -> None:
    """Money, quota, a lost right, or a person who stopped the last one: the kernel has told why."""
    data = {"reason": deployment.replica_set.reason}
    if deployment.status == DeploymentStatus.PREPARING:
        states.fail(actor, deployment, Ending.REPLICAS_ENDED, data)
    else:
        states.end(actor, deployment, Ending.REPLICAS_ENDED)


def _take_on(actor: Actor, deployment: Deployment) -> None:
    if not is_ready(deployment):
        trouble = _trouble(deployment)
        if trouble is not None:
            _fail(actor, deployment, trouble, {})
    elif not deployment.version.smoke_path or (deployment.smoked_at and not deployment.smoke_problem):
        _take_over(actor, deployment, serving(deployment.service_id))
    elif deployment.smoked_at:
        _fail(actor, deployment, Ending.SMOKE, {"problem": deployment.smoke_problem})


def _take_over(actor: Actor, deployment: Deployment, before: Deployment | None) -> None:
    if before is not None:
        states.drain(actor, before, Ending.REPLACED)
    states.activate(actor, deployment)
    notices.tell_serving(deployment, is_update=before is not None)


def _fail(actor: Actor, deployment: Deployment, reason: Ending, data: dict[str, str]) -> None:
    """What serves goes on serving; what was to take its place costs nothing any more."""
    states.fail(actor, deployment, reason, data)
    services.stop_replicas(actor, deployment)
    notices.tell_failed(deployment, still_serves=serving(deployment.service_id) is not None)


def _trouble(deployment: Deployment) -> Ending | None:
    """Why it will not become ready any more; None while it may."""
    replicas = Workload.objects.filter(replica_set=deployment.replica_set, status__in=LIVE)
    ended = Attempt.objects.filter(workload__in=replicas, ended_at__isnull=False, given_up_at__isnull=True)
    if ended.exclude(exit_reason__in=("", ExitReason.STOPPED.value)).count() >= MOST_RESTARTS:
        return Ending.CRASHED
    running = replicas.filter(status=Status.RUNNING).aggregate(since=Min("status_since"))["since"]
    first = Attempt.objects.filter(workload__replica_set=deployment.replica_set).aggregate(at=Min("started_at"))["at"]
    began = first or running
    if began is not None and db_now() - began > timedelta(seconds=START_S):
        return Ending.NOT_READY
    return None
