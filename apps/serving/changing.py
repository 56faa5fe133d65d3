"""What of a service changes while it serves, and its end."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.serving import services
from apps.serving.choices import OPEN
from apps.serving.models import ModelName, Service

MOST_ORIGINS = 20
ORIGIN = re.compile(r"\*|https?://[a-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Settings:
    """What of a service may be changed while it serves."""

    note: str
    cors_origins: tuple[str, ...]
    stops_at: datetime | None
    back_at_percent: int | None = None


def change(actor: Actor, service_id: UUID, settings: Settings) -> Service:
    """Raises `Invalid` beside `cors_origins`, `stops_at` or `back_at_percent`."""
    origins = clean_origins(settings.cors_origins)
    if settings.stops_at is not None and settings.stops_at <= db_now():
        raise Invalid.field("stops_at", _("Choose a time that is still to come."))
    if settings.back_at_percent is not None and not 1 <= settings.back_at_percent <= 100:
        raise Invalid.field("back_at_percent", _("From %(least)s to %(most)s.") % {"least": 1, "most": 100})
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        before = _told(service)
        service.note, service.cors_origins, service.stops_at = settings.note, list(origins), settings.stops_at
        service.back_at_percent = settings.back_at_percent
        service.save(update_fields=["note", "cors_origins", "stops_at", "back_at_percent"])
        services.record_change(actor, service, "changed", _told(service), before)
    return service


def clean_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """Raises `Invalid` beside `cors_origins`."""
    found = tuple(dict.fromkeys(each.strip().lower().rstrip("/") for each in origins if each.strip()))
    for each in found:
        if not ORIGIN.fullmatch(each) or len(each) > 200:
            words = _("“%(text)s” is no origin. Write one a line, such as https://app.example.com, or * for any.")
            raise Invalid.field("cors_origins", words % {"text": each[:60]})
    if len(found) > MOST_ORIGINS:
        raise Invalid.field("cors_origins", _("No more than %(most)s origins.") % {"most": MOST_ORIGINS})
    return found


def delete(actor: Actor, service_id: UUID) -> None:
    """Its address, names and keys answer nobody any more; bills and the log keep it. `Conflict` unless stopped."""
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        if services.of_status(service, OPEN).exists():
            raise Conflict(_("It still runs."), hint=_("Stop it, and wait until it has finished its requests."))
        Service.objects.filter(pk=service.pk).update(deleted_at=db_now())
        ModelName.objects.filter(service=service).delete()
        services.record_change(actor, service, "deleted")


def _told(service: Service) -> dict[str, Any]:
    """As the log has it."""
    return {
        "cors_origins": service.cors_origins,
        "stops_at": service.stops_at.isoformat() if service.stops_at else None,
        "note": service.note,
        "back_at_percent": service.back_at_percent,
    }
