from apps.billing.models.arrears import ArrearsState
from apps.billing.models.budgets import Budget, BudgetAlert
from apps.billing.models.caps import SpendingCap
from apps.billing.models.catalogue import Package, PriceVersion
from apps.billing.models.changes import ChangeRequest
from apps.billing.models.discounts import Discount
from apps.billing.models.exports import Export, ExportPart
from apps.billing.models.holds import Hold, HoldEnd
from apps.billing.models.invoices import Invoice, InvoiceFile, InvoiceTitle
from apps.billing.models.kept_sums import DaySum, SessionDay
from apps.billing.models.ledger import Account, Transfer
from apps.billing.models.metering import MeterSession, UsageSlice
from apps.billing.models.prepaid import PrepaidOrder, PrepaidPurchase, PrepaidSeat, PrepaidStop, TermPrice
from apps.billing.models.rating import Charge, RatingRun
from apps.billing.models.recharges import AloneAct, PaymentProof, ReceivedPayment, RechargeRequest
from apps.billing.models.reconciliation import AlipayBill, BillDay, BillItem
from apps.billing.models.review import PackageRequest, PackageRestriction
from apps.billing.models.statements import Statement, StatementLine
from apps.billing.models.topups import TopUpNotice, TopUpOrder, TopUpRefund
from apps.billing.models.unit_prices import UnitPrice
from apps.billing.models.vouchers import ChargeCover, Voucher, VoucherEnd, VoucherUse

__all__ = [
    "Account",
    "AlipayBill",
    "AloneAct",
    "ArrearsState",
    "BillDay",
    "BillItem",
    "Budget",
    "BudgetAlert",
    "ChangeRequest",
    "Charge",
    "ChargeCover",
    "DaySum",
    "Discount",
    "Export",
    "ExportPart",
    "Hold",
    "HoldEnd",
    "Invoice",
    "InvoiceFile",
    "InvoiceTitle",
    "MeterSession",
    "Package",
    "PackageRequest",
    "PackageRestriction",
    "PaymentProof",
    "PrepaidOrder",
    "PrepaidPurchase",
    "PrepaidSeat",
    "PrepaidStop",
    "PriceVersion",
    "RatingRun",
    "ReceivedPayment",
    "RechargeRequest",
    "SessionDay",
    "SpendingCap",
    "Statement",
    "StatementLine",
    "TermPrice",
    "TopUpNotice",
    "TopUpOrder",
    "TopUpRefund",
    "Transfer",
    "UnitPrice",
    "UsageSlice",
    "Voucher",
    "VoucherEnd",
    "VoucherUse",
]
