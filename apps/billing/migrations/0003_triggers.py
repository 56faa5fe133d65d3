"""What the database itself enforces: balances follow transfers and holds, and what was closed or issued stays."""

from django.db import migrations

from apps.common.migration_operations import LoadSQL, append_only


class Migration(migrations.Migration):
    replaces = [("billing", "0003_prices")]  # any but the last: see apps/common/management/commands/migrate.py

    dependencies = [("billing", "0002_keys"), ("common", "0001_initial")]

    operations = [
        # Accounts, transfers and holds
        LoadSQL("billing", "account_starts_empty", "01bc96a9"),
        LoadSQL("billing", "account_stays", "5085012b"),
        LoadSQL("billing", "transfer_owner", "e4beaab7"),
        LoadSQL("billing", "transfer_apply", "ea1d62a0"),
        LoadSQL("billing", "hold_apply", "55b73c5e"),
        LoadSQL("billing", "holdend_apply", "2ce8d248"),
        # Prices
        LoadSQL("billing", "price_follows", "1f01faf9"),
        LoadSQL("billing", "price_immutable", "5c67e319"),
        LoadSQL("billing", "term_price_follows", "05a6b934"),
        LoadSQL("billing", "term_price_immutable", "11d1aad0"),
        LoadSQL("billing", "unit_price_follows", "fb0b3057"),
        LoadSQL("billing", "unit_price_immutable", "97b3c380"),
        LoadSQL("billing", "discount_follows", "623936db"),
        LoadSQL("billing", "discount_immutable", "ff52ca94"),
        # Metering and rating
        LoadSQL("billing", "session_moves_on", "e8887b14"),
        LoadSQL("billing", "session_tags_stay", "07565635"),
        LoadSQL("billing", "run_moves", "26e2affd"),
        LoadSQL("billing", "charge_sums", "446e367a"),
        # Vouchers and prepaid purchases
        LoadSQL("billing", "voucher_starts_full", "5a281f6f"),
        LoadSQL("billing", "voucher_immutable", "58c608ba"),
        LoadSQL("billing", "voucheruse_apply", "9deb5650"),
        LoadSQL("billing", "chargecover_fits", "3309e0f7"),
        LoadSQL("billing", "voucherend_apply", "682fe168"),
        LoadSQL("billing", "purchase_moves_on", "ca63aa59"),
        # Statements
        LoadSQL("billing", "statement_guard", "5239c39e"),
        LoadSQL("billing", "statementline_guard", "c79b562d"),
        # Tables to which rows are added and nothing else
        append_only("billing_transfer"),
        append_only("billing_hold"),
        append_only("billing_holdend"),
        append_only("billing_usageslice"),
        append_only("billing_ratingrun"),
        append_only("billing_charge"),
        append_only("billing_paymentproof"),
        append_only("billing_prepaidseat"),
        append_only("billing_prepaidstop"),
        append_only("billing_voucheruse"),
        append_only("billing_chargecover"),
        append_only("billing_voucherend"),
    ]
