"""What people set: that a service follows the load between two numbers of replicas, or does so no longer."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.serving import services
from apps.serving.models import Scaling, Service
from apps.serving.scaling.deciding import Bounds
from apps.workloads.replicas.services import MOST_REPLICAS

MOST_TARGET = 1000
MOST_PATIENCE_MIN = 60
DEFAULT_PATIENCE_MIN = 5


def of(service: Service) -> Scaling | None:
    """None: it has the number that a person chose."""
    found: Scaling | None = getattr(service, "scaling", None)
    return found


def follow(actor: Actor, service_id: UUID, bounds: Bounds) -> None:
    """From now on its number follows the load. Raises `Invalid` beside `least`, `most`, `target`, `patience_min`."""
    _check(bounds)
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        before = of(service)
        columns = {
            "least": bounds.least,
            "most": bounds.most,
            "target": bounds.target,
            "patience_min": bounds.patience_min,
        }
        Scaling.objects.update_or_create(
            service=service,
            defaults={**columns, "since": db_now(), "peaks": {}, "held": "", "held_until": None},
            create_defaults={**columns, "organisation_id": service.organisation_id},
        )
        told = {name: getattr(before, name) for name in columns} if before else None
        services.record_change(actor, service, "follows_load", columns, told)


def unfollow(actor: Actor, service_id: UUID) -> None:
    """It keeps the number that it has. Raises `Conflict` where it does not follow the load."""
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        found = of(service)
        if found is None:
            raise Conflict(_("It does not follow the load."))
        found.delete()
        services.record_change(actor, service, "fixed", {"replicas": service.replicas})


def _check(bounds: Bounds) -> None:
    number = _("From 1 to %(most)s.")
    wrong = {
        name: number % {"most": most}
        for name, value, most in (
            ("least", bounds.least, MOST_REPLICAS),
            ("most", bounds.most, MOST_REPLICAS),
            ("target", bounds.target, MOST_TARGET),
            ("patience_min", bounds.patience_min, MOST_PATIENCE_MIN),
        )
        if not 1 <= value <= most
    }
    if not wrong and bounds.most < bounds.least:
        wrong = {"most": _("Not less than the least number.")}
    if wrong:
        raise Invalid(next(iter(wrong.values())), fields=wrong)
