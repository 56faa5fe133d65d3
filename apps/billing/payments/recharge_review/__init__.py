"""Acts that need two people: recharges, refunds and vouchers above one person's limit, and every reversal."""

from apps.billing.payments.alone import alone_fen, why_second
from apps.billing.payments.deciders import REASON_MAX
from apps.billing.payments.recharge_review.deciding import approve, deny, withdraw
from apps.billing.payments.recharge_review.requesting import (
    adjust,
    ask_reversal,
    grant,
    recharge,
    refund,
)

__all__ = [
    "REASON_MAX",
    "adjust",
    "alone_fen",
    "approve",
    "ask_reversal",
    "deny",
    "grant",
    "recharge",
    "refund",
    "why_second",
    "withdraw",
]
