"""The only place that writes an organisation's arrears status.

    normal → low → grace → suspended → release pending → released; enough money returns to normal.

Each move is one conditional UPDATE under the row's count of changes; its audit row and its notice share the
transaction. Release pending and released belong to the retention of data and are entered by nothing yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.db.models import F

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.notifications.services import notify_organisation

S = ArrearsStatus

TRANSITIONS: Mapping[ArrearsStatus, frozenset[ArrearsStatus]] = {
    S.NORMAL: frozenset({S.LOW, S.GRACE}),
    S.LOW: frozenset({S.NORMAL, S.GRACE}),
    S.GRACE: frozenset({S.NORMAL, S.SUSPENDED}),
    S.SUSPENDED: frozenset({S.NORMAL, S.RELEASE_PENDING}),
    S.RELEASE_PENDING: frozenset({S.NORMAL, S.RELEASED}),
    S.RELEASED: frozenset({S.NORMAL}),
}

NOTICES: Mapping[ArrearsStatus, str] = {
    S.NORMAL: "billing.restored",
    S.LOW: "billing.low",
    S.GRACE: "billing.grace",
    S.SUSPENDED: "billing.suspended",
    S.RELEASE_PENDING: "billing.release_pending",
    S.RELEASED: "billing.released",
}


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
    def is_exhausted(self) -> bool:
        """In debt, or at nothing with something still running. An empty wallet that runs nothing owes nothing."""
        return self.funds_fen < 0 or (self.funds_fen == 0 and self.burn_fen_per_hour > 0)


def due_status(state: ArrearsState, position: Position, now: datetime) -> ArrearsStatus | None:
    """The status to move to, None to stay. Holds count as funds: they are set aside for exactly this usage."""
    match state.status:
        case S.NORMAL | S.LOW if position.is_exhausted:
            return S.GRACE
        case S.NORMAL if position.is_low:
            return S.LOW
        case S.LOW if position.funds_fen >= max(state.threshold_fen, position.low_threshold_fen):
            return S.NORMAL
        case S.GRACE if not position.is_exhausted:
            return S.NORMAL
        case S.GRACE if state.since + policy.GRACE <= now:
            return S.SUSPENDED
        case S.SUSPENDED | S.RELEASE_PENDING | S.RELEASED if position.funds_fen > 0:
            return S.NORMAL
    return None


def move(actor: Actor, state: ArrearsState, to: ArrearsStatus, *, position: Position, now: datetime) -> bool:
    """Write the transition, tell it and log it; False when somebody else moved first. Illegal edges: Conflict."""
    before = ArrearsStatus(state.status)
    if to not in TRANSITIONS[before]:
        raise Conflict(f"arrears: {before} → {to} is no transition")
    moved = ArrearsState.objects.filter(pk=state.pk, status=before, changes=state.changes).update(
        status=to, since=now, changes=F("changes") + 1, threshold_fen=position.low_threshold_fen
    )
    if moved:
        _log(actor, state, before, to)
        _tell(state, to, position, now)
    return bool(moved)


def _log(actor: Actor, state: ArrearsState, before: ArrearsStatus, to: ArrearsStatus) -> None:
    record(
        actor,
        action="billing.arrears",
        target=Target("organisation", str(state.pk), state.organisation.name),
        organisation_id=state.pk,
        before={"status": before},
        after={"status": to},
    )


def _tell(state: ArrearsState, to: ArrearsStatus, position: Position, now: datetime) -> None:
    data = {"funds_fen": position.funds_fen, "burn_fen_per_hour": str(position.burn_fen_per_hour)}
    if to is S.GRACE:
        data["grace_until"] = (now + policy.GRACE).isoformat()
    dedup = f"arrears:{state.pk}:{state.changes + 1}"
    notify_organisation(organisation_id=state.pk, kind=NOTICES[to], data=data, dedup=dedup)
