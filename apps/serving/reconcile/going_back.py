"""Going back by itself: a new version whose answers fail is replaced by the one before, where its owner wants that.

What is counted begins `AFTER` the take-over: until then gateways still tell of what the version before was asked. It
happens once for a deployment, and never to one that is a return itself, so that two bad versions do not take turns.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Sum

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.serving import notices, services
from apps.serving.choices import DeploymentStatus, Ending
from apps.serving.models import Deployment, Usage

log = logging.getLogger(__name__)

AFTER = timedelta(seconds=8)
"""More than twice `door.counting.WRITE_EVERY_S`."""
WATCHED = timedelta(minutes=10)
LEAST = 20
"""Fewer answers say nothing of a version."""


def watch(actor: Actor, deployment: Deployment) -> None:
    """One that serves. Needs the service's lock."""
    percent, since = deployment.service.back_at_percent, deployment.active_at
    if percent is None or since is None or deployment.returns or deployment.went_back_at:
        return
    if not AFTER <= db_now() - since <= WATCHED:
        return
    requests, errors = _asked(deployment, since)
    if deployment.asked_before is None:
        _keep(deployment, asked_before=[requests, errors])
        return
    requests, errors = requests - deployment.asked_before[0], errors - deployment.asked_before[1]
    if requests >= LEAST and errors * 100 >= percent * requests:
        _go_back(actor, deployment, errors * 100 // requests)


def _asked(deployment: Deployment, since: datetime) -> tuple[int, int]:
    """How much was asked of the service from this minute on, and how much of it failed."""
    minute = since.replace(second=0, microsecond=0)
    rows = Usage.objects.filter(service=deployment.service_id, minute__gte=minute)
    summed = rows.aggregate(requests=Sum("requests"), errors=Sum("errors"))
    return summed["requests"] or 0, summed["errors"] or 0


def _go_back(actor: Actor, deployment: Deployment, percent: int) -> None:
    if services.of_status(deployment.service, [DeploymentStatus.PREPARING]).exists():
        return  # somebody is at it
    before = _before(deployment)
    if before is None:
        return
    try:
        with transaction.atomic():
            services.go_back(actor, deployment.service, before.version)
        is_begun = True
    except DomainError as error:
        log.info("service %s cannot go back: %s", deployment.service_id, error)
        is_begun = False
    _keep(deployment, went_back_at=db_now())
    notices.tell_went_back(deployment, before.version.number, percent, is_begun=is_begun)


def _before(deployment: Deployment) -> Deployment | None:
    """What served before, of another version."""
    rows = Deployment.objects.filter(service=deployment.service_id, reason=Ending.REPLACED, active_at__isnull=False)
    found: Deployment | None = (
        rows.exclude(version=deployment.version_id)
        .select_related("version__image", "version__code", "version__model__model")
        .order_by("-active_at")
        .first()
    )
    return found


def _keep(deployment: Deployment, **columns: object) -> None:
    Deployment.objects.filter(pk=deployment.pk).update(**columns)
