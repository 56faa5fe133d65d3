"""Exports: everybody sees their own and nobody else's."""

from uuid import UUID

from django.db.models import Q, QuerySet

from apps.billing.export_choices import ExportStatus
from apps.billing.exports.sources import needed, needed_for_all
from apps.billing.exports.wanted import export_spec
from apps.billing.models import Export, ExportPart
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission


def exports(actor: Actor) -> QuerySet[Export]:
    """The actor's own of this organisation, or of the console; newest first."""
    actor.require(Permission.PLATFORM_OVERVIEW if actor.platform else Permission.BILLING_VIEW_OWN)
    place = Q(organisation__isnull=True) if actor.platform else Q(organisation=actor.organisation())
    rows: QuerySet[Export] = Export.objects.filter(place, owner_id=actor.user_id or 0).select_related("organisation")
    return rows.order_by("-created_at", "-pk")


def export(actor: Actor, export_id: UUID) -> Export:
    """One of them; `NotFound` otherwise."""
    found = exports(actor).filter(pk=export_id).first()
    if found is None:
        raise NotFound
    return found


def downloadable_export(actor: Actor, export_id: UUID) -> Export:
    """An export whose file can be downloaded now; `NotFound` otherwise.

    Raises `Denied` if the actor could see its rows when it was made but no longer can.
    """
    found = export(actor, export_id)
    wanted = export_spec(found.kind, found.format, found.filters)
    actor.require(needed(actor, wanted))
    whole = needed_for_all(actor, wanted)
    if found.covers_all and whole is not None:
        actor.require(whole)
    if found.status != ExportStatus.READY or found.expires_at is None or found.expires_at <= db_now():
        raise NotFound
    return found


def export_part(export_id: UUID, number: int) -> bytes | None:
    """A part of the file of an export that `downloadable_export` has returned; None after the last part."""
    rows = ExportPart.objects.filter(export_id=export_id, number=number)
    content = rows.values_list("content", flat=True).first()
    return None if content is None else bytes(content)
