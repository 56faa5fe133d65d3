"""What writes money, as other apps call it; it lies in the rooms.

Amounts are integer fen, rates Decimal fen per hour, times aware UTC.
"""

from apps.billing.arrears.services import ArrearsChange, arrears_sweep, reassess, set_arrears_terms
from apps.billing.caps.services import CappedWorkload, NearCap, close_cap, mark_reached, near_caps, set_cap
from apps.billing.holds.services import hold_for_start, release_hold
from apps.billing.ledger.services import Posting, post
from apps.billing.metering.services import close_meter, extend_meter, open_meter
from apps.billing.prices.packages.services import (
    PackageSpec,
    activate_package,
    create_package,
    deactivate_package,
    update_package,
)
from apps.billing.prices.units.services import end_unit_price, follow_price_list, set_unit_price
from apps.billing.prices.versions import Priced, set_price
from apps.billing.rating.credits import credit_lost
from apps.billing.rating.services import rate_due, rate_organisation
from apps.billing.recharges.services import set_credit_limit, top_up

__all__ = [
    "ArrearsChange",
    "CappedWorkload",
    "NearCap",
    "PackageSpec",
    "Posting",
    "Priced",
    "activate_package",
    "arrears_sweep",
    "close_cap",
    "close_meter",
    "create_package",
    "credit_lost",
    "deactivate_package",
    "end_unit_price",
    "extend_meter",
    "follow_price_list",
    "hold_for_start",
    "mark_reached",
    "near_caps",
    "open_meter",
    "post",
    "rate_due",
    "rate_organisation",
    "reassess",
    "release_hold",
    "set_arrears_terms",
    "set_cap",
    "set_credit_limit",
    "set_price",
    "set_unit_price",
    "top_up",
    "update_package",
]
