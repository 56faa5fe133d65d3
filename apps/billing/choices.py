"""Closed sets of values of the billing tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class AccountKind(models.TextChoices):
    """What an account stands for. The first four exist once per organisation, the others once on the platform."""

    CASH = "cash", _("Wallet")
    VOUCHER = "voucher", _("Vouchers")
    DEFERRED = "deferred", _("Prepaid, not yet earned")
    REVENUE = "revenue", _("Revenue")
    ALIPAY_CLEARING = "alipay_clearing", _("Alipay clearing")
    OFFLINE_CLEARING = "offline_clearing", _("Offline payments clearing")
    FEES = "fees", _("Payment fees")
    REFUND_CLEARING = "refund_clearing", _("Refund clearing")
    WRITE_OFF = "write_off", _("Write-off")
    PROMOTION = "promotion", _("Vouchers granted")


# The order is the order of their ids within one organisation, and so the order in which their rows are locked.
ORGANISATION_KINDS = (AccountKind.CASH, AccountKind.VOUCHER, AccountKind.DEFERRED, AccountKind.REVENUE)
PLATFORM_KINDS = tuple(kind for kind in AccountKind if kind not in ORGANISATION_KINDS)


class TransferKind(models.TextChoices):
    """Why money moved. All but usage are somebody's decision and stop at the credit limit.

    Credit: what was charged for work that was lost because it had to give way to another task. Prepayment: from the
    wallet to what is not yet earned; earned day by day. A voucher is granted from the promotion account and, unused,
    ends there. Fee: what the payment provider kept. Write-off: arrears that are given up. Adjustment: a credit or debit
    note of the platform's staff, between a wallet and its revenue.
    """

    TOP_UP = "top_up", _("Top-up")
    USAGE = "usage", _("Usage")
    CORRECTION = "correction", _("Correction")
    CREDIT = "credit", _("Credit for lost work")
    REFUND = "refund", _("Refund")
    PREPAYMENT = "prepayment", _("Prepayment")
    RECOGNITION = "recognition", _("Prepayment, earned")
    PREPAYMENT_BACK = "prepayment_back", _("Prepayment given back")
    VOUCHER_ISSUE = "voucher_issue", _("Voucher granted")
    VOUCHER_END = "voucher_end", _("Voucher ended unused")
    FEE = "fee", _("Payment fee")
    WRITE_OFF = "write_off", _("Write-off")
    ADJUSTMENT = "adjustment", _("Adjustment")


class CreditCause(models.TextChoices):
    """Why work was lost; it stands in the business key of its credit, for ever."""

    PREEMPTION = "preemption", _("It gave way to other work")
    NODE = "node", _("Its machine failed")
    PLATFORM = "platform", _("The platform failed")


class HoldReason(models.TextChoices):
    START = "start", _("Reserved for the start")
    RUNNING = "running", _("Reserved for the next hour")
    SETTLING = "settling", _("Used, not yet charged")
    PREPAID = "prepaid", _("Covered by a prepayment")


class HoldOutcome(models.TextChoices):
    CAPTURED = "captured", _("Used")
    VOIDED = "voided", _("Released")
    EXPIRED = "expired", _("Expired")


class UnitItem(models.TextChoices):
    """What the price list has prices for, each by the hour.

    CPU: a core. Memory: a GiB. GPU: a whole card, a MIG instance of one profile, or all the compute of a card of which
    slices take a share. GPU memory: a GiB of it in such a slice. RDMA: the use of a node's adapters by one replica.
    """

    CPU = "cpu", _("CPU core")
    MEMORY = "memory", _("GiB of memory")
    GPU = "gpu", _("GPU")
    GPU_MEMORY = "gpu_memory", _("GiB of GPU memory")
    RDMA = "rdma", _("RDMA")


class Isolation(models.TextChoices):
    """What keeps the tasks on one card apart; shown with every package."""

    NONE = "none", _("No accelerator")
    WHOLE = "whole", _("Whole card")
    HARDWARE = "hardware", _("Hardware partition (MIG)")
    MEMORY = "memory", _("Memory limited (vGPU)")
    SHARED = "shared", _("Shared, no isolation")


class Resource(models.TextChoices):
    """What a package is sold by: the running replica, or the GiB that is kept."""

    COMPUTE = "compute", _("Compute")
    STORAGE = "storage", _("Storage")


class VoucherScope(models.TextChoices):
    """What a voucher may pay for."""

    EVERYTHING = "everything", pgettext_lazy("voucher", "Everything")
    PACKAGE = "package", _("One package")
    GPU_MODEL = "gpu_model", _("One GPU model")
    STORAGE = "storage", _("Storage")


class VoucherNote(models.TextChoices):
    """Notes that the platform writes itself. A voucher never changes, so each is stored as it was first written; who
    reads it has it in their language.
    """

    TO_BEGIN_WITH = "To begin with", _("To begin with")

    @classmethod
    def words(cls, note: str) -> str:
        """Somebody's own note as it is."""
        return str(cls(note).label) if note in cls.values else note


class VoucherState(models.TextChoices):
    """As it is shown; none of it is stored."""

    PLANNED = "planned", _("Not valid yet")
    VALID = "valid", pgettext_lazy("voucher", "Valid")
    USED_UP = "used_up", _("Used up")
    EXPIRED = "expired", _("Expired")
    VOIDED = "voided", _("Voided")


class VoucherEndReason(models.TextChoices):
    EXPIRED = "expired", _("Expired")
    VOIDED = "voided", _("Voided")


class GpuMode(models.TextChoices):
    WHOLE = "whole", _("Whole")
    SHARED = "shared", _("Shared")
    VGPU = "vgpu", _("vGPU")
    MIG = "mig", _("MIG")


# Their slices are cut by GPU memory and, where the node can hold them to it, by a share of the compute.
SLICED_BY_MEMORY = (GpuMode.SHARED, GpuMode.VGPU)

ISOLATION_OF_MODE = {
    "": Isolation.NONE,
    GpuMode.WHOLE: Isolation.WHOLE,
    GpuMode.MIG: Isolation.HARDWARE,
    GpuMode.VGPU: Isolation.MEMORY,
    GpuMode.SHARED: Isolation.SHARED,
}


class Term(models.TextChoices):
    """By the hour is paid as it is used; the others are prepaid."""

    HOUR = "hour", _("By the hour")
    DAY = "day", _("By the day")
    MONTH = "month", _("By the month")
    YEAR = "year", _("By the year")


PREPAID_TERMS = (Term.DAY, Term.MONTH, Term.YEAR)


class PrepaidStatus(models.TextChoices):
    """Of a prepaid order. All but active are for good. Changed: another package took its place."""

    ACTIVE = "active", _("Active")
    EXPIRED = "expired", _("Expired")
    CHANGED = "changed", pgettext_lazy("prepaid order", "Changed")
    REFUNDED = "refunded", pgettext_lazy("prepaid order", "Given back")


class PrepaidEnd(models.TextChoices):
    """What becomes of covered work that still runs when a prepaid order expires."""

    HOURLY = "hourly", _("Goes on by the hour")
    STOP = "stop", _("Is saved and stopped")


class ArrearsStatus(models.TextChoices):
    """How far an organisation is from having its compute stopped because the balance ran out."""

    NORMAL = "normal", _("Normal")
    LOW = "low", _("Balance low")
    GRACE = "grace", _("Balance used up")
    SUSPENDED = "suspended", _("Suspended")
    RELEASE_PENDING = "release_pending", _("Release announced")
    RELEASED = "released", _("Released")


# Nothing new may start in these.
BLOCKING = (
    ArrearsStatus.GRACE,
    ArrearsStatus.SUSPENDED,
    ArrearsStatus.RELEASE_PENDING,
    ArrearsStatus.RELEASED,
)
# The kernel stops what runs in these.
STOPPING = BLOCKING[1:]


class BudgetScope(models.TextChoices):
    """Whose spending a budget counts."""

    ORGANISATION = "organisation", _("Whole organisation")
    DEPARTMENT = "department", _("Department")
    USER = "user", _("Member")
    RESOURCE = "resource", _("Resource")
    TAG = "tag", _("Tag")


class TopUpStatus(models.TextChoices):
    """Of a payment by Alipay."""

    OPEN = "open", _("Not paid yet")
    PAID = "paid", _("Paid")
    CLOSED = "closed", _("Closed unpaid")


class NoticeOutcome(models.TextChoices):
    """What a signed notice of Alipay's about a payment did here."""

    CREDITED = "credited", _("Credited the payment")
    NOTHING = "nothing", _("Changed nothing")
    OTHER_AMOUNT = "amount", _("Not taken: another amount")


class RefundStatus(models.TextChoices):
    ASKED = "asked", _("Under way")
    DONE = "done", _("Given back")
    FAILED = "failed", _("Refused, back in the wallet")


class RechargeKind(models.TextChoices):
    RECHARGE = "recharge", _("Recharge")
    REVERSAL = "reversal", _("Reversal")
    REFUND = "refund", _("Refund by Alipay")
    VOUCHER = "voucher", _("Voucher")
    CREDIT_NOTE = "credit", _("Credit note")
    DEBIT_NOTE = "debit", _("Debit note")


# Adjustments of a bill: into the wallet, and out of it.
NOTES = (RechargeKind.CREDIT_NOTE, RechargeKind.DEBIT_NOTE)


class PaymentMethod(models.TextChoices):
    """How a payment that staff record has reached the platform."""

    BANK = "bank", _("Bank transfer")
    ACCEPTANCE = "acceptance", _("Bank acceptance bill")
    CHEQUE = "cheque", _("Cheque")
    CASH = "cash", _("Cash")
    OTHER = "other", _("Another way")


class RequestState(models.TextChoices):
    """Of a request for a package or for a recharge. Revoked: an approval that was taken back."""

    PENDING = "pending", _("Waiting for a decision")
    APPROVED = "approved", _("Approved")
    DENIED = "denied", _("Denied")
    REVOKED = "revoked", _("Taken back")
    WITHDRAWN = "withdrawn", pgettext_lazy("request", "Withdrawn")


class StatementState(models.TextChoices):
    """Of an organisation's statement of one month. Issued is for good."""

    DRAFT = "draft", _("Draft")
    REVIEWED = "reviewed", _("Reviewed")
    ISSUED = "issued", pgettext_lazy("statement", "Issued")


class StatementSection(models.TextChoices):
    """Bill: what was consumed. Paid: from what. Prepaid and wallet: what else moved in the month, shown apart."""

    BILL = "bill", _("Consumption")
    PAID = "paid", _("Paid from")
    PREPAID = "prepaid", _("Prepaid")
    WALLET = "wallet", _("Wallet")


class BillKind(models.TextChoices):
    """What a line of the bill is. Late: used in an earlier month and charged in this one."""

    USAGE = "usage", _("Usage")
    LATE = "late", _("Usage of an earlier month")
    REVERSAL = "reversal", _("Reversal")
    CREDIT = "credit", _("Credit for lost work")
    ADJUSTMENT = "adjustment", _("Adjustment")
    ROUNDING = "rounding", _("Rounding")
