"""What becomes of money's rows when an account is deleted: all that the books need stays, under a number for a name."""

from django.utils.translation import gettext_lazy as _

from apps.billing.requests.services import withdraw_all
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _kept(user: User) -> list[Line]:
    return [Line(_("Postings, statements, invoices and proofs of payment; pages show a number in place of the name"))]


DATA = PersonalData(
    links={
        "billing.Export.owner": Fate.ERASED,
        "billing.Budget.user": Fate.ERASED,  # with its alerts: it watched this person's spending alone
        **dict.fromkeys(
            (
                "billing.AlipayBill.brought_by",
                "billing.AloneAct.user",
                "billing.BillItem.closed_by",
                "billing.ChangeRequest.decided_by",
                "billing.ChangeRequest.requested_by",
                "billing.Discount.made_by",
                "billing.Invoice.decided_by",
                "billing.Invoice.issued_by",
                "billing.Invoice.requested_by",
                "billing.Invoice.voided_by",
                "billing.InvoiceFile.uploaded_by",
                "billing.MeterSession.user",
                "billing.PackageRequest.decided_by",
                "billing.PackageRequest.user",
                "billing.PaymentProof.uploaded_by",
                "billing.PrepaidOrder.user",
                "billing.RechargeRequest.decided_by",
                "billing.RechargeRequest.requested_by",
                "billing.Statement.issued_by",
                "billing.Statement.reviewed_by",
                "billing.TopUpOrder.user",
                "billing.TopUpRefund.requested_by",
                "billing.Transfer.actor_id",
                "billing.Transfer.actor_label",
                "billing.Voucher.issued_by",
            ),
            Fate.KEPT,
        ),
    },
    kept=_kept,
    erase=withdraw_all,
    own=(
        OwnRows(
            "metered",
            _("What was metered of your work"),
            "billing.MeterSession",
            "user",
            "organisation__name label resource replicas opened_at closed_at",
        ),
        OwnRows(
            "budgets",
            _("Budgets for you"),
            "billing.Budget",
            "user",
            "organisation__name name limit_fen thresholds created_at",
        ),
        OwnRows(
            "exports",
            _("Files that you asked for"),
            "billing.Export",
            "owner",
            "organisation__name kind format filters created_at ended_at",
        ),
        OwnRows(
            "package-requests",
            _("Packages that you asked for"),
            "billing.PackageRequest",
            "user",
            "organisation__name package__name_en reason state created_at decided_at answer",
        ),
        OwnRows(
            "top-ups",
            _("Payments that you began"),
            "billing.TopUpOrder",
            "user",
            "organisation__name out_trade_no amount_fen created_at",
        ),
    ),
)
