"""What takes two people: recharges, refunds and vouchers above what one may move alone, and every reversal."""

from apps.billing.payments.recharge_review.deciding import REASON_MAX, approve, deny, withdraw
from apps.billing.payments.recharge_review.requesting import (
    alone_fen,
    ask_reversal,
    grant,
    needs_second,
    recharge,
    refund,
)

__all__ = [
    "REASON_MAX",
    "alone_fen",
    "approve",
    "ask_reversal",
    "deny",
    "grant",
    "needs_second",
    "recharge",
    "refund",
    "withdraw",
]
