"""Organisations: made, frozen and let work again. Every change leaves an audit row with before and after."""

import secrets
from uuid import UUID

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation


def create_organisation(actor: Actor, *, name: str, slug: str = "") -> Organisation:
    """An active organisation; raises `Invalid` for a name or short name that is taken or empty."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    cleaned = clean_name(name)
    if not 1 <= len(cleaned) <= 80:
        raise Invalid.field("name", _("A name has 1 to 80 characters."))
    short = slugify(slug or cleaned)[:40] or f"org-{secrets.token_hex(4)}"
    if Organisation.objects.filter(name__iexact=cleaned).exists():
        raise Invalid.field("name", _("Another organisation has this name."))
    if Organisation.objects.filter(slug=short).exists():
        if slug:
            raise Invalid.field("slug", _("Another organisation has this short name."))
        short = f"{short[:31]}-{secrets.token_hex(4)}"
    with transaction.atomic():
        organisation: Organisation = Organisation.objects.create(name=cleaned, slug=short)
        record(
            actor,
            action="organisation.created",
            organisation_id=organisation.pk,
            target=target_of(organisation),
            after={"name": cleaned, "slug": short},
        )
    return organisation


def set_organisation_status(actor: Actor, *, organisation_id: UUID, status: OrganisationStatus) -> Organisation:
    """Freeze an organisation or let it work again.

    While it is frozen, its people may only read. Running work goes on; queued work ends when its turn comes.
    """
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    with transaction.atomic():
        organisation: Organisation | None = Organisation.objects.select_for_update().filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        if organisation.status == status:
            raise Conflict(_("The organisation is in this state already."))
        before, organisation.status = organisation.status, status
        organisation.save(update_fields=["status"])
        record(
            actor,
            action=f"organisation.{status}",
            organisation_id=organisation.pk,
            target=target_of(organisation),
            before={"status": before},
            after={"status": status.value},
        )
    return organisation


def set_weight(actor: Actor, *, organisation_id: UUID, weight: int) -> None:
    """Set its share of what is free beyond all guarantees, relative to other organisations: 1 to 100."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    if not 1 <= weight <= 100:
        raise Invalid.field("weight", _("A weight is a number from 1 to 100."))
    with transaction.atomic():
        organisation = Organisation.objects.select_for_update(no_key=True).filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        before, organisation.weight = organisation.weight, weight
        if before != weight:
            organisation.save(update_fields=["weight"])
            record(
                actor,
                action="organisation.weight",
                organisation_id=organisation.pk,
                target=target_of(organisation),
                before={"weight": before},
                after={"weight": weight},
            )


def target_of(organisation: Organisation) -> Target:
    return Target("organisation", str(organisation.pk), organisation.name)
