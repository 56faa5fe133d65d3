"""What of a service changes while it serves, and its end."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
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


def change(actor: Actor, service_id: UUID, settings: Settings) -> Service:
    """Raises `Invalid` beside `cors_origins` or `stops_at`."""
    origins = clean_origins(settings.cors_origins)
    if settings.stops_at is not None and settings.stops_at <= db_now():
        raise Invalid.field("stops_at", _("Choose a time that is still to come."))
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        before = {"cors_origins": service.cors_origins, "stops_at": _text(service.stops_at), "note": service.note}
        service.note, service.cors_origins, service.stops_at = settings.note, list(origins), settings.stops_at
        service.save(update_fields=["note", "cors_origins", "stops_at"])
        after = {"cors_origins": list(origins), "stops_at": _text(settings.stops_at), "note": service.note}
        services.record_change(actor, service, "changed", after, before)
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


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
