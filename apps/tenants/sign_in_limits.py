"""Limits on tries of passwords and codes that stop guessing without locking anybody else out.

Who comes in a browser in which they have signed in before is held up by that browser's own failures alone. Everybody
else shares the account's limit for strangers, whatever address they come from, and has one for the account from that
address. An address is refused as a whole only after failures for many different accounts, and never for people who
have signed in from there before. Each try counts when it begins and is taken back when it was right: what is sent at
the same time counts as if it came one after the other.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from math import ceil

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.requests import address_of
from apps.tenants.models import KnownDevice, SignInFailures, User

COOKIE = "plstack_device"
COOKIE_AGE = timedelta(days=400)
STRANGERS = "strangers"
FORGOTTEN_AFTER = timedelta(days=1)
DEVICES_KEPT = timedelta(days=180)
# A network with failures for this many accounts within this time is guessing: no office forgets so many passwords.
CROWD = 50
CROWD_TIME = timedelta(hours=1)
IPV6_SITE = 64


@dataclass(frozen=True, slots=True)
class Pace:
    """`free` failures without a wait; then a wait of `first`, doubled with each failure up to `longest`."""

    free: int
    first: timedelta
    longest: timedelta

    def wait(self, failures: int) -> timedelta:
        if failures < self.free:
            return timedelta(0)
        doubled: timedelta = self.first * 2 ** min(failures - self.free, 20)
        return min(doubled, self.longest)


QUARTER = timedelta(minutes=15)
OWN_PACE = Pace(10, timedelta(seconds=30), QUARTER)
NETWORK_PACE = Pace(5, timedelta(seconds=30), QUARTER)
STRANGERS_PACE = Pace(10, timedelta(minutes=1), QUARTER)


class TooManyTries(DomainError):
    """`wait_s`: seconds until the next try is looked at."""

    code = "too_many_tries"
    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, wait: timedelta) -> None:
        self.wait_s = max(1, ceil(wait.total_seconds()))
        minutes = ceil(self.wait_s / 60)
        told = ngettext(
            "Too many tries. Try again in %(count)s minute.", "Too many tries. Try again in %(count)s minutes.", minutes
        )
        hint = _("In a browser in which you have signed in before you need not wait for the failures of others.")
        super().__init__(told % {"count": minutes}, hint=hint)


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a try comes from: the network, and the digest of the browser's secret where it has one."""

    place: str
    device: str


@dataclass(frozen=True, slots=True)
class Try:
    """A try in progress: what was counted for it, and the counts before."""

    account: str
    counted: tuple[tuple[str, int, datetime], ...]


def caller_of(request: HttpRequest) -> Caller:
    secret = request.COOKIES.get(COOKIE, "")
    return Caller(network_of(address_of(request)), _digest(secret) if secret else "")


def network_of(address: str | None) -> str:
    """The network of an address: itself, or for IPv6 its /64; empty if the address is unknown."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return ""
    if found.version == 6 and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return str(found) if found.version == 4 else str(ip_network((found, IPV6_SITE), strict=False))


def account_of(login: str) -> tuple[str, int | None]:
    """One key per person, whichever of their names is tried, or per unknown name; and the person's id."""
    user = User.objects.filter(Q(username__iexact=login) | (Q(email__iexact=login) & ~Q(email=""))).first()
    if user is not None:
        return f"user:{user.pk}", user.pk
    return f"name:{_digest(login.casefold())}", None


def code_account_of(user: User) -> tuple[str, int | None]:
    """The key for codes of the second factor, which follow a correct password."""
    return f"code:{user.pk}", user.pk


def begin(caller: Caller, account: tuple[str, int | None]) -> Try:
    """Count a try before it is checked; raises `TooManyTries` without counting it."""
    key, user_id = account
    with transaction.atomic():
        _lock_account(key)
        now = db_now()
        known = user_id is not None and _is_known(caller, user_id)
        if not known:
            _refuse_mass_guessing(caller, key, user_id, now)
        paces = {f"device:{caller.device}": OWN_PACE} if known else _stranger_paces(caller)
        rows = {row.source: row for row in SignInFailures.objects.filter(account=key, source__in=paces)}
        wait = max((rows[source].open_at - now for source in rows), default=timedelta(0))
        if wait > timedelta(0):
            raise TooManyTries(wait)
        return Try(key, tuple(_count(key, source, pace, rows.get(source), now) for source, pace in paces.items()))


def succeeded(made: Try) -> None:
    """After a success: clear the failures of its source, and undo what the try counted among strangers."""
    with transaction.atomic():
        _lock_account(made.account)
        for source, failures, before in made.counted:
            row = SignInFailures.objects.filter(account=made.account, source=source)
            if source != STRANGERS:
                row.delete()
            elif not row.filter(failures=failures).update(failures=failures - 1, open_at=before):
                row.filter(failures__gt=0).update(failures=F("failures") - 1)


def remember_browser(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Give the browser a new secret that identifies it for `user` and for everybody else who signed in with it."""
    caller, secret = caller_of(request), secrets.token_urlsafe(32)
    digest = _digest(secret)
    with transaction.atomic():
        if caller.device:
            KnownDevice.objects.filter(digest=caller.device).update(digest=digest)
        seen = {"place": caller.place, "seen_at": db_now()}
        KnownDevice.objects.update_or_create(user=user, digest=digest, defaults=seen)
    response.set_cookie(
        COOKIE, secret, max_age=COOKIE_AGE, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )


def reset_failures(user: User, keep: str = "") -> None:
    """After a new password: clear all failures and forget all browsers but `keep` (a digest)."""
    SignInFailures.objects.filter(account=f"user:{user.pk}").delete()
    KnownDevice.objects.filter(user=user).exclude(digest=keep).delete()


def forget_old() -> int:
    """Remove old failures and browsers not seen for half a year; returns how many."""
    now = db_now()
    failures, _by_model = SignInFailures.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
    devices, _by_model = KnownDevice.objects.filter(seen_at__lt=now - DEVICES_KEPT).delete()
    return failures + devices


def _stranger_paces(caller: Caller) -> dict[str, Pace]:
    network = {f"network:{caller.place}": NETWORK_PACE} if caller.place else {}
    return {**network, STRANGERS: STRANGERS_PACE}


def _is_known(caller: Caller, user_id: int) -> bool:
    return bool(caller.device) and KnownDevice.objects.filter(user_id=user_id, digest=caller.device).exists()


def _refuse_mass_guessing(caller: Caller, account: str, user_id: int | None, now: datetime) -> None:
    """Refuse a network with failures for many other accounts, unless the person has signed in from there before."""
    if not caller.place:
        return
    if user_id is not None and KnownDevice.objects.filter(user_id=user_id, place=caller.place).exists():
        return
    recent = SignInFailures.objects.filter(source=f"network:{caller.place}", last_at__gt=now - CROWD_TIME)
    newest = list(recent.exclude(account=account).order_by("-last_at").values_list("last_at", flat=True)[:CROWD])
    if len(newest) >= CROWD:
        raise TooManyTries(newest[-1] + CROWD_TIME - now)


def _count(
    account: str, source: str, pace: Pace, row: SignInFailures | None, now: datetime
) -> tuple[str, int, datetime]:
    before = row.open_at if row is not None else now
    past = row.failures if row is not None and row.last_at > now - FORGOTTEN_AFTER else 0
    values = {"failures": past + 1, "last_at": now, "open_at": now + pace.wait(past + 1)}
    SignInFailures.objects.update_or_create(account=account, source=source, defaults=values)
    return source, past + 1, before


def _lock_account(account: str) -> None:
    """Serialise tries for one account; the lock ends with the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"sign-in {account}"])


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
