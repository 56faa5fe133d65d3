"""Recognise prepaid revenue: from deferred to revenue, a service day at a time, the remainder on the last.

Each day is one transfer with a key of its own. A task that runs twice finds the day done, and one that did not run for
weeks catches up on each missed day: what is earned at a moment does not depend on when the task ran.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from django.db import transaction

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import Posting, organisation_account, post
from apps.billing.models import PrepaidPurchase
from apps.billing.periods import day_end, days_between, earned_after
from apps.billing.prepaid.services import reference
from apps.common.actor import Actor
from apps.common.clock import db_now

Row = TypeVar("Row")


def recognise_due(actor: Actor, *, now: datetime | None = None) -> int:
    """Recognise every service day that is over; returns the number of purchases with any. The actor is the platform."""
    now = now or db_now()
    due = PrepaidPurchase.objects.filter(next_recognition_at__lte=now).order_by("next_recognition_at", "pk")
    return for_each_isolated(due.values_list("pk", flat=True), lambda pk: _recognise(actor, pk, now))


def for_each_isolated(rows: Iterable[Row], do: Callable[[Row], bool]) -> int:
    """Run `do` for each row; returns how many did something. Failures stop nobody and are raised together."""
    done, failures = 0, []
    for row in list(rows):
        try:
            done += do(row)
        except Exception as error:  # an error in one organisation must not stop the others
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{len(failures)} prepaid orders could not be looked after", failures)
    return done


def _recognise(actor: Actor, purchase_id: int, now: datetime) -> bool:
    with transaction.atomic():
        rows = PrepaidPurchase.objects.select_for_update(no_key=True, of=("self",)).select_related("order")
        part: PrepaidPurchase = rows.get(pk=purchase_id)
        before = part.recognised_days
        while part.next_recognition_at is not None and part.next_recognition_at <= now:
            _earn_a_day(actor, part)
        if part.recognised_days == before:
            return False
        part.save(update_fields=["recognised_days", "recognised_fen", "next_recognition_at"])
        return True


def _earn_a_day(actor: Actor, part: PrepaidPurchase) -> None:
    day = part.recognised_days + 1
    earned = earned_after(part.amount_fen, part.starts_at, part.ends_at, day)
    if earned > part.recognised_fen:
        posting = Posting(
            debit=organisation_account(part.organisation_id, AccountKind.DEFERRED),
            credit=organisation_account(part.organisation_id, AccountKind.REVENUE),
            amount_fen=earned - part.recognised_fen,
            kind=TransferKind.RECOGNITION,
            idem=f"recognition:{part.order_id}:{part.number}:{day}",
            ref=reference(part.order),
        )
        post(actor, posting=posting)
    part.recognised_days, part.recognised_fen = day, earned
    over = day == days_between(part.starts_at, part.ends_at)
    part.next_recognition_at = None if over else day_end(part.starts_at, part.ends_at, day + 1)
