from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "apps.billing"
    # Balances, holds' sums, transfers, slices and charges: the application's role adds rows and edits none.
    limited_tables = {
        "billing_account": "SELECT, INSERT, UPDATE (credit_limit_fen)",
        "billing_transfer": "SELECT, INSERT",
        "billing_hold": "SELECT, INSERT",
        "billing_holdend": "SELECT, INSERT",
        "billing_package": "SELECT, INSERT, UPDATE",
        "billing_priceversion": "SELECT, INSERT, UPDATE (effective_to)",
        "billing_metersession": "SELECT, INSERT, UPDATE (proven_until, rated_until, closed_at, settled)",
        "billing_usageslice": "SELECT, INSERT",
        "billing_ratingrun": "SELECT, INSERT",
        "billing_charge": "SELECT, INSERT",
        # Written by a trigger on the charges only.
        "billing_sessionday": "SELECT",
        "billing_daysum": "SELECT",
        "billing_alipaybill": "SELECT, INSERT",
        "billing_termprice": "SELECT, INSERT, UPDATE (effective_to)",
        "billing_prepaidorder": "SELECT, INSERT, UPDATE (status, ends_at, covers_until, auto_renew, at_end, told_days)",
        "billing_prepaidpurchase": (
            "SELECT, INSERT, "
            "UPDATE (recognised_days, recognised_fen, next_recognition_at, returned_fen, returned_id, cut_at)"
        ),
        "billing_prepaidseat": "SELECT, INSERT",
        "billing_prepaidstop": "SELECT, INSERT",
        "billing_discount": "SELECT, INSERT, UPDATE (effective_to)",
        "billing_voucher": "SELECT, INSERT, UPDATE (voided_at)",
        "billing_voucheruse": "SELECT, INSERT",
        "billing_chargecover": "SELECT, INSERT",
        "billing_voucherend": "SELECT, INSERT",
        "billing_aloneact": "SELECT, INSERT",
        "billing_exportpart": "SELECT, INSERT, DELETE",
        "billing_invoicefile": "SELECT, INSERT",
        "billing_arrearsstate": "SELECT, INSERT, UPDATE",
    }
