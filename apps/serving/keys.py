"""Bearer keys of a service: made (shown once), rotated, revoked."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.text import clean_name
from apps.serving.choices import KIND, MOST_KEYS
from apps.serving.models import Service, ServiceKey
from apps.tenants.tokens import digest_of
from apps.workloads.permissions import may_manage

MARK = "plsv_"  # so that scanners of source code recognise a key that leaked
PREFIX_CHARS = 13
SECRET_BYTES = 32
MOST_PER_MINUTE = 1_000_000
MOST_OVERLAP_H = 168


class Lifetime(StrEnum):
    """After how many days a key ends by itself."""

    MONTH = "30"
    QUARTER = "90"
    YEAR = "365"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """A key to make. `per_minute` None: no limit of its own."""

    name: str
    lifetime: Lifetime = Lifetime.NEVER
    per_minute: int | None = None


def keys(service: Service) -> QuerySet[ServiceKey]:
    """All of a service's, newest first; the caller has checked that the actor may see the service."""
    return ServiceKey.objects.filter(service=service).select_related("author")


def live(rows: QuerySet[ServiceKey]) -> QuerySet[ServiceKey]:
    return rows.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), revoked_at__isnull=True)


def create(actor: Actor, service: Service, draft: KeyDraft) -> tuple[ServiceKey, str]:
    """A key and its secret, which is returned only here. Raises `Invalid` with the field, `Conflict`, `NotFound`."""
    may_manage(actor, KIND, service.owner_id)
    name = clean_name(draft.name)
    if not 1 <= len(name) <= 60:
        raise Invalid.field("name", _("A name has 1 to 60 characters."))
    if draft.per_minute is not None and not 1 <= draft.per_minute <= MOST_PER_MINUTE:
        raise Invalid.field("per_minute", _("From %(least)s to %(most)s.") % {"least": 1, "most": MOST_PER_MINUTE})
    if live(keys(service)).count() >= MOST_KEYS:
        raise Conflict(_("This service has %(count)s keys already. Revoke one first.") % {"count": MOST_KEYS})
    expires = None if draft.lifetime is Lifetime.NEVER else db_now() + timedelta(days=int(draft.lifetime))
    with transaction.atomic():
        return _make(actor, service, name, draft.per_minute, expires)


def _make(
    actor: Actor,
    service: Service,
    name: str,
    per_minute: int | None,
    expires_at: datetime | None,
    follows: ServiceKey | None = None,
) -> tuple[ServiceKey, str]:
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    key: ServiceKey = ServiceKey.objects.create(
        organisation_id=service.organisation_id,
        service=service,
        author_id=actor.person(),
        name=name,
        prefix=secret[:PREFIX_CHARS],
        digest=digest_of(secret),
        per_minute=per_minute,
        expires_at=expires_at,
        follows=follows,
    )
    _log(actor, service, "key_created", key)
    key.refresh_from_db()
    return key, secret


def rotate(actor: Actor, service: Service, key_id: UUID, *, overlap_h: int) -> tuple[ServiceKey, str]:
    """A new key in place of one, which goes on for so many hours, so that programs can be changed one by one.

    Raises `Invalid` beside `overlap_h`, `Conflict` for one that has ended.
    """
    if not 0 <= overlap_h <= MOST_OVERLAP_H:
        raise Invalid.field("overlap_h", _("From %(least)s to %(most)s.") % {"least": 0, "most": MOST_OVERLAP_H})
    with transaction.atomic():
        old = _locked(actor, service, key_id)
        if not live(keys(service)).filter(pk=old.pk).exists():
            raise Conflict(_("This key has ended already."))
        made = _make(actor, service, old.name, old.per_minute, old.expires_at, old)
        until = db_now() + timedelta(hours=overlap_h)
        old.expires_at = until if old.expires_at is None else min(until, old.expires_at)
        old.save(update_fields=["expires_at"])
    return made


def revoke(actor: Actor, service: Service, key_id: UUID) -> ServiceKey:
    """It lets nobody in any more, within seconds; one that has ended is left unchanged."""
    with transaction.atomic():
        key = _locked(actor, service, key_id)
        if key.revoked_at is None:
            key.revoked_at = db_now()
            key.save(update_fields=["revoked_at"])
            _log(actor, service, "key_revoked", key)
    return key


def _locked(actor: Actor, service: Service, key_id: UUID) -> ServiceKey:
    may_manage(actor, KIND, service.owner_id)
    found: ServiceKey | None = keys(service).select_for_update(of=("self",)).filter(pk=key_id).first()
    if found is None:
        raise NotFound
    return found


def _log(actor: Actor, service: Service, what: str, key: ServiceKey) -> None:
    record(
        actor,
        action=f"serving.{what}",
        target=Target("service", str(service.pk), service.name),
        organisation_id=service.organisation_id,
        after={"key": key.name, "prefix": key.prefix, "per_minute": key.per_minute},
    )
