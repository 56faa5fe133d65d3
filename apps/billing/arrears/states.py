"""The only place that writes an organisation's arrears status.

    normal → low → grace → suspended → release pending → released; money leads back to normal, or to low.

Each move is one conditional UPDATE under the row's count of changes; its audit row and its notice share the
transaction. A release is announced 7, 3 and 1 days ahead, once each. If the platform was down meanwhile, the release
moves later, so that each notice keeps its full lead time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal

from django.db.models import F, Value
from django.db.models.functions import Greatest

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.arrears import notices
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.common.errors import Conflict

S = ArrearsStatus

TRANSITIONS: Mapping[ArrearsStatus, frozenset[ArrearsStatus]] = {
    S.NORMAL: frozenset({S.LOW, S.GRACE}),
    S.LOW: frozenset({S.NORMAL, S.GRACE}),
    S.GRACE: frozenset({S.NORMAL, S.LOW, S.SUSPENDED}),
    S.SUSPENDED: frozenset({S.NORMAL, S.LOW, S.RELEASE_PENDING}),
    S.RELEASE_PENDING: frozenset({S.NORMAL, S.LOW, S.RELEASED}),
    S.RELEASED: frozenset({S.NORMAL, S.LOW}),
}

NOTICES: Mapping[ArrearsStatus, str] = {
    S.NORMAL: "billing.restored",
    S.LOW: "billing.low",
    S.GRACE: "billing.grace",
    S.SUSPENDED: "billing.suspended",
    S.RELEASE_PENDING: "billing.release_pending",
    S.RELEASED: "billing.released",
}


FIRST_NOTICE = timedelta(days=policy.RELEASE_NOTICES[0])
# A sweep is always a little late; an announcement that is late by no more than this moves nothing.
LATE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Terms:
    """How long work goes on without money, and how long data is kept once compute has stopped."""

    grace: timedelta = policy.GRACE
    retention: timedelta = timedelta(days=policy.RETENTION_DAYS)

    @property
    def grace_minutes(self) -> int:
        return self.grace // timedelta(minutes=1)

    @property
    def retention_days(self) -> int:
        return self.retention.days


@dataclass(frozen=True, slots=True)
class Position:
    """Fen that running work may still consume (balance and credit, its own holds included) and fen per hour."""

    funds_fen: int
    burn_fen_per_hour: Decimal

    @property
    def low_threshold_fen(self) -> int:
        by_burn = int((self.burn_fen_per_hour * policy.LOW_HOURS).to_integral_value(rounding=ROUND_CEILING))
        return max(by_burn, policy.LOW_FEN)

    @property
    def is_low(self) -> bool:
        return self.burn_fen_per_hour > 0 and self.funds_fen < self.low_threshold_fen

    @property
    def is_very_low(self) -> bool:
        """Below half of what is low: said at once, however lately the organisation was told that all is well."""
        return self.is_low and self.funds_fen * 2 < self.low_threshold_fen

    @property
    def is_exhausted(self) -> bool:
        """In debt, or at nothing with something still running. An empty wallet that runs nothing owes nothing."""
        return self.funds_fen < 0 or (self.funds_fen == 0 and self.burn_fen_per_hour > 0)


def due_status(state: ArrearsState, position: Position, now: datetime, terms: Terms) -> ArrearsStatus | None:
    """The status to move to; None to stay. Holds count as funds, because they are set aside for exactly this usage."""
    match state.status:
        case S.NORMAL | S.LOW if position.is_exhausted:
            return S.GRACE
        case S.NORMAL if position.is_very_low or (position.is_low and not _has_just_recovered(state, now)):
            return S.LOW
        case S.LOW if position.funds_fen >= max(state.threshold_fen, position.low_threshold_fen):
            return S.NORMAL
        case S.LOW if state.calm_since is not None and not position.is_low and _lasted(state.calm_since, now):
            return S.NORMAL
        case S.GRACE if not position.is_exhausted:
            return _with_money(position)
        case S.GRACE if state.since + terms.grace <= now:
            return S.SUSPENDED
        case S.SUSPENDED | S.RELEASE_PENDING | S.RELEASED if position.funds_fen > 0:
            return _with_money(position)
        case S.SUSPENDED if release_moment(state, terms) - FIRST_NOTICE <= now:
            return S.RELEASE_PENDING
        case S.RELEASE_PENDING if state.told_days == policy.RELEASE_NOTICES[-1] and _release_at(state) <= now:
            return S.RELEASED
    return None


def _with_money(position: Position) -> ArrearsStatus:
    """Where money leads to: straight to low if it is, so that nobody is told first that all is well."""
    return S.LOW if position.is_low else S.NORMAL


def _has_just_recovered(state: ArrearsState, now: datetime) -> bool:
    return state.changes > 0 and not _lasted(state.since, now)


def _lasted(since: datetime, now: datetime) -> bool:
    return now - since >= policy.LOW_CALM


def note_calm(state: ArrearsState, position: Position, now: datetime) -> None:
    """Write since when a low organisation is short no more, and forget it as soon as it is again."""
    calm = state.status == S.LOW and not position.is_low
    if calm != (state.calm_since is not None):
        ArrearsState.objects.filter(pk=state.pk, changes=state.changes).update(calm_since=now if calm else None)


def due_announcement(state: ArrearsState, now: datetime) -> int | None:
    """How many days ahead the notice that is due now announces the release: 3 or 1; None if none is due."""
    if state.status != S.RELEASE_PENDING:
        return None
    left = _release_at(state) - now
    rest = [days for days in policy.RELEASE_NOTICES if state.told_days is None or days < state.told_days]
    return rest[0] if rest and left <= timedelta(days=rest[0]) else None


def release_moment(state: ArrearsState, terms: Terms) -> datetime:
    """When the data of a suspended organisation is due to be released."""
    return state.since + terms.retention


def move(
    actor: Actor, state: ArrearsState, to: ArrearsStatus, *, position: Position, now: datetime, terms: Terms = Terms()
) -> bool:
    """Write, announce and log the transition; False if somebody else moved first. Illegal ones raise `Conflict`."""
    before = ArrearsStatus(state.status)
    if to not in TRANSITIONS[before]:
        raise Conflict(f"arrears: {before} → {to} is no transition")
    pending = to is S.RELEASE_PENDING
    release_at = max(release_moment(state, terms), now + FIRST_NOTICE - LATE) if pending else None
    told = policy.RELEASE_NOTICES[0] if pending else None
    moved = ArrearsState.objects.filter(pk=state.pk, status=before, changes=state.changes).update(
        status=to,
        since=now,
        changes=F("changes") + 1,
        threshold_fen=position.low_threshold_fen,
        calm_since=None,
        release_at=release_at,
        told_days=told,
    )
    if moved:
        _log(actor, state, before, to)
        _tell(state, to, position, {"before": before, **_times(to, now, terms, release_at, told)})
    return bool(moved)


def announce(state: ArrearsState, days: int, *, position: Position, now: datetime) -> bool:
    """Send one of the later notices before a release, once; False if somebody else moved first.

    The moment that the notice names stays at least `days` days away.
    """
    rows = ArrearsState.objects.filter(pk=state.pk, status=S.RELEASE_PENDING, changes=state.changes)
    release_at = max(_release_at(state), now + timedelta(days=days) - LATE)
    told = rows.update(
        told_days=days, changes=F("changes") + 1, release_at=Greatest(F("release_at"), Value(release_at))
    )
    if told:
        _tell(state, S.RELEASE_PENDING, position, {"release_at": release_at.isoformat(), "days": days})
    return bool(told)


def _release_at(state: ArrearsState) -> datetime:
    """Announced together with the status; a check constraint says so too."""
    if state.release_at is None:
        raise ValueError("no release is announced")
    return state.release_at


def _times(
    to: ArrearsStatus, now: datetime, terms: Terms, release_at: datetime | None, days: int | None
) -> dict[str, object]:
    if to is S.GRACE:
        return {"grace_until": (now + terms.grace).isoformat()}
    if release_at is not None:
        return {"release_at": release_at.isoformat(), "days": days}
    return {"release_at": (now + terms.retention).isoformat()} if to is S.SUSPENDED else {}


def _log(actor: Actor, state: ArrearsState, before: ArrearsStatus, to: ArrearsStatus) -> None:
    record(
        actor,
        action="billing.arrears",
        target=Target("organisation", str(state.pk), state.organisation.name),
        organisation_id=state.pk,
        before={"status": before},
        after={"status": to},
    )


def _tell(state: ArrearsState, to: ArrearsStatus, position: Position, times: Mapping[str, object]) -> None:
    data = {"funds_fen": position.funds_fen, "burn_fen_per_hour": str(position.burn_fen_per_hour), **times}
    dedup = f"arrears:{state.pk}:{state.changes + 1}"
    notices.notify(state, to, kind=NOTICES[to], data=data, dedup=dedup)
