"""Closing a month over all organisations: one transaction each, so that it can be killed and run again at any point."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.billing.choices import AccountKind, StatementState
from apps.billing.models import Account, RatingRun, Statement, Transfer
from apps.billing.months import Month
from apps.billing.statements.figures import MARGIN
from apps.billing.statements.services import build
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError

# Months that the sweep still looks at: a platform that was switched off for weeks catches up.
LOOK_BACK = 3
# Organisations read at a time.
_PAGE = 200


@dataclass(frozen=True, slots=True)
class BatchResult:
    """How many succeeded, and what was refused: (id, error)."""

    count: int
    refused: list[tuple[UUID, DomainError]] = field(default_factory=list)


def close_due(actor: Actor, *, now: datetime | None = None) -> int:
    """Build drafts of the last months: a first one once the month is over, the final one from T+1; returns how many."""
    now = now or db_now()
    months = Month.at(now).former().back(LOOK_BACK)
    return sum(close_month(actor, month=month, now=now) for month in months)


def close_month(actor: Actor, *, month: Month, now: datetime | None = None) -> int:
    """Build the due drafts of one month; returns how many.

    Failures of single organisations do not stop the others and are raised together at the end.
    """
    now = now or db_now()
    built, failures = 0, []
    for organisation_id in _due(month, now):
        try:
            build(actor, organisation_id=organisation_id, month=month, now=now)
            built += 1
        except Exception as error:  # an error in one organisation must not stop the others
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{len(failures)} statements of {month.period} could not be built", failures)
    return built


def build_now(actor: Actor, *, month: Month, seconds: float = 10.0) -> tuple[int, bool]:
    """Build every draft of a month anew, the running one's too, for at most so long; (how many, whether any are left).

    Drafts that were built in the last minute count as new, so that a second press goes on where the first stopped.
    """
    now, until, built = db_now(), time.monotonic() + seconds, 0
    for organisation_id in _due(month, now, fresh_since=now - timedelta(minutes=1)):
        if time.monotonic() > until:
            return built, True
        build(actor, organisation_id=organisation_id, month=month, now=now)
        built += 1
    return built, False


def apply_to_all(statement_ids: Iterable[UUID], act: Callable[[UUID], object]) -> BatchResult:
    """Review or issue many, one transaction each; refusals are collected and the others go on."""
    count, refused = 0, []
    for statement_id in statement_ids:
        try:
            act(statement_id)
            count += 1
        except DomainError as error:
            refused.append((statement_id, error))
    return BatchResult(count, refused)


def _due(month: Month, now: datetime, fresh_since: datetime | None = None) -> Iterator[UUID]:
    """Organisations that need a draft, a page at a time: built ones are no longer found, so no position is kept."""
    last: UUID | None = None
    while True:
        rows = _wanting(month, _up_to_date(month, now, fresh_since))
        page = list((rows if last is None else rows.filter(organisation_id__gt=last))[:_PAGE])
        if not page:
            return
        yield from page
        last = page[-1]


def _up_to_date(month: Month, now: datetime, fresh_since: datetime | None) -> QuerySet[Statement]:
    """Statements of the month that need not be built: before T+1 any, after it the complete, and those built lately."""
    mine: QuerySet[Statement] = Statement.objects.filter(period=month.period)
    if fresh_since is not None:
        return mine.filter(~Q(state=StatementState.DRAFT) | Q(built_at__gte=fresh_since))
    return mine.filter(Q(complete=True) | ~Q(state=StatementState.DRAFT)) if now >= month.complete_at else mine


def _wanting(month: Month, will_do: QuerySet[Statement]) -> QuerySet[Account, UUID]:
    """Organisations with movements in the month, or money left from before, without an up-to-date statement."""
    final = will_do.filter(organisation_id=OuterRef("organisation_id"))
    moved = Transfer.objects.filter(organisation_id=OuterRef("organisation_id"))
    rated = RatingRun.objects.filter(organisation_id=OuterRef("organisation_id"))
    since = month.start - MARGIN
    known = Exists(moved.filter(at__lt=month.end)) | Exists(rated.filter(at__lt=month.end))
    lately = Exists(moved.filter(at__gte=since)) | Exists(rated.filter(at__gte=since))
    wallets: QuerySet[Account] = Account.objects.filter(kind=AccountKind.CASH).filter(~Exists(final))
    wallets = wallets.filter(known).filter(~Q(balance_fen=0) | lately)
    return wallets.order_by("organisation_id").values_list("organisation_id", flat=True)
