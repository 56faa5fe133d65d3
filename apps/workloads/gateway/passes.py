"""From the portal's session to a cookie on the workload's host: a single-use code, exchanged for a token.

Called by the gateway outside any actor's scope: it authorises here, against the rows as they are now.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django_scopes import scopes_disabled

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Denied, DomainError
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.tenants import given_passwords, second_factor
from apps.tenants.actors import organisation_actor
from apps.tenants.session_actors import signed_in_user
from apps.workloads.gateway.hosts import Address
from apps.workloads.models import EntryCode, GatewaySession, Workload
from apps.workloads.permissions import may_open_port
from apps.workloads.reach import port_named

CODE_LIFE = timedelta(seconds=60)
SESSION_LIFE = timedelta(minutes=15)
RENEW_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Someone who may use one port of one workload now. `portal`: the origin of the portal that they came from."""

    actor: Actor
    language: str
    portal: str
    workload: Workload
    port: str


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def address_of(workload: Workload, port: str) -> Address:
    """Where a declared port is reached: the first one has no name in front. `NotFound` for no such port."""
    name = port_named(workload, port).name
    return Address(workload.pk, "" if name == port_named(workload, "").name else name)


def issue(actor: Actor, workload: Workload, port: str, *, portal_session: str, portal: str) -> str:
    """A code that opens one port once, within CODE_LIFE, for as long as `portal_session` lasts.

    Raises `NotFound` or `Denied` where the actor may not enter.
    """
    name = port_named(workload, port).name
    may_open_port(actor, workload, name)
    code = secrets.token_urlsafe(32)
    EntryCode.objects.create(
        digest=digest(code),
        organisation_id=workload.organisation_id,
        workload=workload,
        user_id=actor.person(),
        port=name,
        portal_session=portal_session,
        portal=portal,
        expires_at=db_now() + CODE_LIFE,
    )
    return code


def exchange(code: str, address: Address) -> str | None:
    """A token for the cookie; None for a code that is spent, late, or of another host. Any use spends the code."""
    with scopes_disabled(), transaction.atomic():
        row = EntryCode.objects.select_for_update().filter(pk=digest(code)).first()
        if row is None:
            return None
        row.delete()
        if row.expires_at < db_now() or _visitor(row, address) is None:
            return None
        token = secrets.token_urlsafe(32)
        GatewaySession.objects.create(
            digest=digest(token),
            organisation_id=row.organisation_id,
            workload_id=row.workload_id,
            user_id=row.user_id,
            port=row.port,
            portal_session=row.portal_session,
            portal=row.portal,
            expires_at=db_now() + SESSION_LIFE,
        )
        return token


def admit(token_digest: str, address: Address) -> Visitor | None:
    """Who stands behind a cookie on this host, as of now; renews the session. None: nobody who may enter."""
    with scopes_disabled():
        row = GatewaySession.objects.filter(pk=token_digest, expires_at__gt=db_now()).first()
        visitor = None if row is None else _visitor(row, address)
        if row is not None and visitor is not None:
            _renew(row)
        return visitor


def forget_expired() -> int:
    """Remove codes and sessions that nobody can use any more; how many."""
    with scopes_disabled():
        rows = (model.objects.filter(expires_at__lt=db_now()) for model in (EntryCode, GatewaySession))
        return sum(found.delete()[0] for found in rows)


def _renew(row: GatewaySession) -> None:
    until = db_now() + SESSION_LIFE
    if until - row.expires_at > RENEW_AFTER:
        GatewaySession.objects.filter(pk=row.pk).update(expires_at=until)


def _visitor(row: EntryCode | GatewaySession, address: Address) -> Visitor | None:
    """The row's person, if they are still signed in to the portal and may still enter, and this is the row's host."""
    if row.workload_id != address.workload_id:
        return None
    try:
        user = signed_in_user(row.user_id, row.portal_session)
        workload = Workload.objects.get(pk=row.workload_id)
        if port_named(workload, address.port).name != row.port:
            return None
        actor = organisation_actor(user, UUID(str(row.organisation_id)))
        given_passwords.admit(user)
        second_factor.admit(actor)
        with acting(actor):
            may_open_port(actor, workload, row.port)
    except (DomainError, Workload.DoesNotExist):
        return None
    return Visitor(actor, user.language, row.portal, workload, row.port)


def session_of(request_session_key: str | None) -> str:
    """The portal's session, without which nothing can be opened."""
    if not request_session_key:
        raise Denied(Permission.ORGANISATION_VIEW)
    return request_session_key
