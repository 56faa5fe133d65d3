from apps.billing.models.arrears import ArrearsState
from apps.billing.models.catalogue import Package, PriceVersion
from apps.billing.models.holds import Hold, HoldEnd
from apps.billing.models.ledger import Account, Transfer
from apps.billing.models.metering import MeterSession, UsageSlice
from apps.billing.models.rating import Charge, RatingRun
from apps.billing.models.recharges import PaymentProof, RechargeRequest
from apps.billing.models.review import PackageRequest, PackageRestriction
from apps.billing.models.topups import TopUpOrder, TopUpRefund

__all__ = [
    "Account",
    "ArrearsState",
    "Charge",
    "Hold",
    "HoldEnd",
    "MeterSession",
    "Package",
    "PackageRequest",
    "PackageRestriction",
    "PaymentProof",
    "PriceVersion",
    "RatingRun",
    "RechargeRequest",
    "TopUpOrder",
    "TopUpRefund",
    "Transfer",
    "UsageSlice",
]
