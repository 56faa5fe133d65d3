"""The nightly check of the books against themselves: balances, holds, rating runs, vouchers and kept sums."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.billing.ledger.kept_sums import day_drift, session_drift
from apps.billing.ledger.selectors import drift, unbalanced_runs, voucher_drift
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform

logger = logging.getLogger(__name__)
CHECKS: Mapping[str, Callable[[], Sequence[Any]]] = {
    "accounts": drift,
    "rating runs": unbalanced_runs,
    "vouchers": voucher_drift,
    "days of sessions": session_drift,
    "sums of days": day_drift,
}
# How many entries of each list the log names; the rest can be queried.
_NAMED = 20


def check_books(actor: Actor) -> dict[str, int]:
    """Number of errors by check, empty if the books are right. Notifies staff once a day.

    Reads every charge, so run it at night. Each check is one statement and sees one moment, while others go on writing.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    wrong: dict[str, int] = {}
    for name, check in CHECKS.items():
        if found := check():
            wrong[name] = len(found)
            logger.error("the books are wrong: %s: %s of %s", name, found[:_NAMED], len(found))
    if wrong:
        notify_platform(
            permission=Permission.PLATFORM_FINANCE_VIEW,
            kind="billing.books_wrong",
            data={"wrong": wrong},
            dedup=f"books_wrong:{db_now():%Y%m%d}",
        )
    return wrong
