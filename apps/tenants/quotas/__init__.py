"""Quota: limits of organisations, departments and people, and what is held under them.

Amounts are reserved in the transaction that makes the object which takes them. A department's books include those of
everything below it; the organisation's include all.
"""

from apps.tenants.quotas.amounts import Amounts, Holder, Line, amount_text, line_words, lines_of
from apps.tenants.quotas.book import lock, move_department, move_person, release, release_all, reserve, shortfall
from apps.tenants.quotas.limits import LIMIT_MAX, set_limit

__all__ = [
    "LIMIT_MAX",
    "Amounts",
    "Holder",
    "Line",
    "amount_text",
    "line_words",
    "lines_of",
    "lock",
    "move_department",
    "move_person",
    "release",
    "release_all",
    "reserve",
    "set_limit",
    "shortfall",
]
