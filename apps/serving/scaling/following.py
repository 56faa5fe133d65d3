"""The loop that brings services by load to the number of replicas that what is asked of them needs.

A start that is refused, for want of quota or money, is kept as a reason for the page and tried again after `AGAIN`.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.serving import services
from apps.serving.choices import DeploymentStatus, Held
from apps.serving.models import Deployment, Scaling, Service
from apps.serving.scaling import deciding, loads
from apps.serving.selectors import serving

log = logging.getLogger(__name__)

AGAIN = timedelta(seconds=30)


def sweep(actor: Actor) -> int:
    """Look at every service by load that serves; how many. One's trouble keeps no other from being looked at."""
    rows = Scaling.objects.filter(service__deployments__status=DeploymentStatus.ACTIVE)
    due = list(rows.values_list("pk", flat=True))
    held = loads.of(due)
    for service_id in due:
        try:
            follow(actor, service_id, held.get(service_id, 0.0))
        except Exception:
            log.exception("service %s could not be brought to what its load needs", service_id)
    return len(due)


def follow(actor: Actor, service_id: UUID, load: float) -> None:
    """One service; while somebody else is at it, theirs is enough. `load`: requests in flight."""
    with transaction.atomic():
        service = services.locked(service_id, skip_locked=True)
        found = Scaling.objects.filter(pk=service_id).first() if service else None
        active = serving(service_id) if found else None
        if service is not None and found is not None and active is not None:
            _follow(actor, service, found, active, load)


def _follow(actor: Actor, service: Service, found: Scaling, active: Deployment, load: float) -> None:
    now, bounds, current = db_now(), bounds_of(found), active.replica_set.wanted
    number = deciding.recommended(load, current, bounds)
    peaks = deciding.remembered({int(at): peak for at, peak in found.peaks.items()}, now.timestamp(), number, bounds)
    steady = now - max(found.since, active.active_at or now)
    wanted = deciding.wanted(current, number, peaks, steady.total_seconds(), bounds)
    before = (found.peaks, found.held, found.held_until)
    found.peaks = {str(at): peak for at, peak in peaks.items()}
    if wanted <= current:
        found.held, found.held_until = Held.NOT, None
    if wanted != current and (found.held_until is None or found.held_until <= now):
        refused = _bring(actor, service, current, wanted, load)
        found.held, found.held_until = refused, now + AGAIN if refused else None
    if before != (found.peaks, found.held, found.held_until):
        found.save(update_fields=["peaks", "held", "held_until"])


def _bring(actor: Actor, service: Service, current: int, wanted: int, load: float) -> Held:
    """To that number; where there is no room for all of it, to one more. Says why there is room for none."""
    refused = Held.NOT
    for number in dict.fromkeys((wanted, current + 1)) if wanted > current else (wanted,):
        try:
            services.bring_to(actor, service, number)
        except DomainError as error:
            refused = Held(error.code) if error.code in Held.values else Held.REFUSED
            continue
        after = {"replicas": number, "in_flight": round(load, 1)}
        services.record_change(actor, service, "scaled_by_load", after, {"replicas": current})
        return Held.NOT
    return refused


def bounds_of(found: Scaling) -> deciding.Bounds:
    return deciding.Bounds(found.least, found.most, found.target, found.patience_min)
