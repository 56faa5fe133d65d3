"""Bearer keys of a service, or of the organisation's own address: made (shown once), rotated, revoked.

`service` None stands for the address in all of them, whose keys are made by who manages all services.
"""

import secrets
from dataclasses import dataclass, replace
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
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.serving.choices import KIND, MODEL_NAME, MOST_KEYS
from apps.serving.models import Service, ServiceKey
from apps.tenants.tokens import digest_of
from apps.workloads.permissions import may_manage

MARK = "plsv_"  # so that scanners of source code recognise a key that leaked
PREFIX_CHARS = 13
SECRET_BYTES = 32
MOST_PER_MINUTE = 1_000_000
MOST_TOKENS_PER_MINUTE = 1_000_000_000
MOST_OVERLAP_H = 168
MOST_MODEL_NAMES = 50


class Lifetime(StrEnum):
    """After how many days a key ends by itself."""

    MONTH = "30"
    QUARTER = "90"
    YEAR = "365"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """A key to make. Limits that are None: none of its own. `model_names`: as `ServiceKey` has them."""

    name: str
    lifetime: Lifetime = Lifetime.NEVER
    per_minute: int | None = None
    model_names: tuple[str, ...] = ()
    tokens_per_minute: int | None = None


def keys(service: Service) -> QuerySet[ServiceKey]:
    """All of a service's, newest first; the caller has checked that the actor may see the service."""
    return ServiceKey.objects.filter(service=service).select_related("author")


def keys_of_address(actor: Actor) -> QuerySet[ServiceKey]:
    """All of the organisation's own address, newest first."""
    rows = ServiceKey.objects.filter(organisation_id=actor.organisation(), service__isnull=True)
    return rows.select_related("author")


def _rows(actor: Actor, service: Service | None) -> QuerySet[ServiceKey]:
    return keys_of_address(actor) if service is None else keys(service)


def live(rows: QuerySet[ServiceKey]) -> QuerySet[ServiceKey]:
    return rows.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), revoked_at__isnull=True)


def create(actor: Actor, service: Service | None, draft: KeyDraft) -> tuple[ServiceKey, str]:
    """A key and its secret, which is returned only here. Raises `Invalid` with the field, `Conflict`, `NotFound`."""
    _may_make(actor, service)
    name = clean_name(draft.name)
    if not 1 <= len(name) <= 60:
        raise Invalid.field("name", _("A name has 1 to 60 characters."))
    _check_limit("per_minute", draft.per_minute, MOST_PER_MINUTE)
    _check_limit("tokens_per_minute", draft.tokens_per_minute, MOST_TOKENS_PER_MINUTE)
    if live(_rows(actor, service)).count() >= MOST_KEYS:
        raise Conflict(_("There are %(count)s keys already. Revoke one first.") % {"count": MOST_KEYS})
    if len(draft.model_names) > MOST_MODEL_NAMES or not all(map(MODEL_NAME.fullmatch, draft.model_names)):
        words = _("Names of models, at most %(most)s, separated by spaces.") % {"most": MOST_MODEL_NAMES}
        raise Invalid.field("model_names", words)
    expires = None if draft.lifetime is Lifetime.NEVER else db_now() + timedelta(days=int(draft.lifetime))
    with transaction.atomic():
        return _make(actor, service, replace(draft, name=name), expires)


def _check_limit(field: str, value: int | None, most: int) -> None:
    if value is not None and not 1 <= value <= most:
        raise Invalid.field(field, _("From %(least)s to %(most)s.") % {"least": 1, "most": most})


def _may_make(actor: Actor, service: Service | None) -> None:
    if service is not None:
        may_manage(actor, KIND, service.owner_id)
    else:
        actor.require(Permission.SERVICES_MANAGE_ALL)


def _make(
    actor: Actor,
    service: Service | None,
    draft: KeyDraft,
    expires_at: datetime | None,
    follows: ServiceKey | None = None,
) -> tuple[ServiceKey, str]:
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    key: ServiceKey = ServiceKey.objects.create(
        organisation_id=service.organisation_id if service else actor.organisation(),
        service=service,
        author_id=actor.person(),
        name=draft.name,
        prefix=secret[:PREFIX_CHARS],
        digest=digest_of(secret),
        per_minute=draft.per_minute,
        tokens_per_minute=draft.tokens_per_minute,
        model_names=list(draft.model_names),
        expires_at=expires_at,
        follows=follows,
    )
    _log(actor, service, "key_created", key)
    key.refresh_from_db()
    return key, secret


def rotate(actor: Actor, service: Service | None, key_id: UUID, *, overlap_h: int) -> tuple[ServiceKey, str]:
    """A new key in place of one, which goes on for so many hours, so that programs can be changed one by one.

    Raises `Invalid` beside `overlap_h`, `Conflict` for one that has ended.
    """
    if not 0 <= overlap_h <= MOST_OVERLAP_H:
        raise Invalid.field("overlap_h", _("From %(least)s to %(most)s.") % {"least": 0, "most": MOST_OVERLAP_H})
    with transaction.atomic():
        old = _locked(actor, service, key_id)
        if not live(_rows(actor, service)).filter(pk=old.pk).exists():
            raise Conflict(_("This key has ended already."))
        draft = KeyDraft(
            old.name,
            per_minute=old.per_minute,
            model_names=tuple(old.model_names),
            tokens_per_minute=old.tokens_per_minute,
        )
        made = _make(actor, service, draft, old.expires_at, old)
        until = db_now() + timedelta(hours=overlap_h)
        old.expires_at = until if old.expires_at is None else min(until, old.expires_at)
        old.save(update_fields=["expires_at"])
    return made


def revoke(actor: Actor, service: Service | None, key_id: UUID) -> ServiceKey:
    """It lets nobody in any more, within seconds; one that has ended is left unchanged."""
    with transaction.atomic():
        key = _locked(actor, service, key_id)
        if key.revoked_at is None:
            key.revoked_at = db_now()
            key.save(update_fields=["revoked_at"])
            _log(actor, service, "key_revoked", key)
    return key


def _locked(actor: Actor, service: Service | None, key_id: UUID) -> ServiceKey:
    _may_make(actor, service)
    found: ServiceKey | None = _rows(actor, service).select_for_update(of=("self",)).filter(pk=key_id).first()
    if found is None:
        raise NotFound
    return found


def _log(actor: Actor, service: Service | None, what: str, key: ServiceKey) -> None:
    address = Target("organisation", str(key.organisation_id), key.organisation.name)
    record(
        actor,
        action=f"serving.{what}",
        target=Target("service", str(service.pk), service.name) if service else address,
        organisation_id=key.organisation_id,
        after={"key": key.name, "prefix": key.prefix, "per_minute": key.per_minute}
        | ({"tokens_per_minute": key.tokens_per_minute} if key.tokens_per_minute else {}),
    )
