"""What a shortage of money means for work that runs or waits, in words for everybody in the organisation."""

from typing import Any

from django.utils.translation import gettext as _

from apps.billing.choices import ArrearsStatus
from apps.billing.funds.wallets import Wallet
from apps.common.formatting import estimated_moment, moment


def shortage(wallet: Wallet) -> dict[str, Any] | None:
    """{"icon", "tone", "text", "sub"}; None while there is no shortage."""
    if wallet.status is ArrearsStatus.NORMAL:
        return None
    if wallet.status is ArrearsStatus.LOW:
        sub = _("At what runs now it lasts until %(time)s.") % {"time": estimated_moment(wallet.runs_until)}
        if wallet.runs_until is None:
            sub = _("Nothing that costs money is running now.")
        return {"icon": "alert-triangle", "tone": "warn", "text": _("The balance is running low"), "sub": sub}
    if wallet.status is ArrearsStatus.GRACE:
        sub = _("Running work is stopped at %(time)s unless the wallet is topped up.") % {
            "time": moment(wallet.grace_until)
        }
        return {"icon": "alert-triangle", "tone": "fail", "text": _("The balance is used up"), "sub": sub}
    sub = _("Nothing starts until the wallet is topped up; all outputs are kept.")
    return {"icon": "circle-x", "tone": "fail", "text": _("Work was stopped because the balance ran out"), "sub": sub}
