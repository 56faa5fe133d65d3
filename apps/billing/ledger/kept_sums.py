"""Check that the kept sums equal the sums of the charges. Both lists must always be empty."""

from typing import Any

from django.conf import settings
from django.db import connection

# Keys whose kept sums differ from the charges', or that only one side has.
_SESSIONS = """
WITH kept AS (
    SELECT organisation_id, session_id, day, price_version_id, charges, seconds, exact_fen, voucher_exact, amount_fen,
        start, "end"
    FROM billing_sessionday
), charged AS (
    SELECT organisation_id, session_id, day, price_version_id, count(*), sum(seconds), sum(exact_fen),
        sum(voucher_exact), sum(amount_fen), min(start), max("end")
    FROM billing_charge GROUP BY organisation_id, session_id, day, price_version_id
)
SELECT session_id, day FROM (TABLE kept EXCEPT TABLE charged) AS surplus
UNION SELECT session_id, day FROM (TABLE charged EXCEPT TABLE kept) AS lacking ORDER BY session_id, day
"""
_DAYS = """
WITH kept AS (
    SELECT organisation_id, billed, day, price_version_id, discount_off, revision, charges, seconds, replica_seconds,
        exact_fen, voucher_exact, amount_fen
    FROM billing_daysum
), charged AS (
    SELECT charge.organisation_id, to_char(run.at AT TIME ZONE %s, 'YYYY-MM') AS billed, day, price_version_id,
        discount_off, revision, count(*), sum(seconds), sum(seconds * (replicas - covered)), sum(charge.exact_fen),
        sum(voucher_exact), sum(charge.amount_fen)
    FROM billing_charge AS charge JOIN billing_ratingrun AS run ON run.id = charge.run_id
    GROUP BY charge.organisation_id, billed, day, price_version_id, discount_off, revision
)
SELECT organisation_id, billed, day FROM (TABLE kept EXCEPT TABLE charged) AS surplus
UNION SELECT organisation_id, billed, day FROM (TABLE charged EXCEPT TABLE kept) AS lacking
ORDER BY organisation_id, billed, day
"""


def session_drift() -> list[tuple[Any, ...]]:
    """(session, day) of every wrong sum."""
    return _rows(_SESSIONS)


def day_drift() -> list[tuple[Any, ...]]:
    """(organisation, billing month, day) of every wrong sum."""
    return _rows(_DAYS, settings.BILLING_TIME_ZONE)


def _rows(statement: str, *parameters: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
