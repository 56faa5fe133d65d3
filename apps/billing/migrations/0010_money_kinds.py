"""The kinds of movement of vouchers, prepayments, fees and write-offs, and between which accounts each may go."""

from django.db import migrations, models

USAGE_OF_A_WALLET = """    IF NEW.kind = 'usage' THEN
        IF payer.kind <> 'cash' OR NOT EXISTS (
            SELECT 1 FROM billing_account WHERE id = NEW.credit_id AND kind = 'revenue'
        ) THEN
            RAISE EXCEPTION 'usage is paid by a wallet to revenue' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'transfer_usage_to_revenue';
        END IF;
    ELSIF payer.kind = 'cash' AND"""

USAGE_OF_WALLET_OR_VOUCHER = """    IF NEW.kind = 'usage' THEN
        IF payer.kind NOT IN ('cash', 'voucher') OR receiver <> 'revenue' THEN
            RAISE EXCEPTION 'usage is paid by a wallet or a voucher to revenue' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'transfer_usage_to_revenue';
        END IF;
    ELSIF (NEW.kind, payer.kind, receiver) NOT IN (
        ('prepayment', 'cash', 'deferred'), ('prepayment_back', 'deferred', 'cash'),
        ('recognition', 'deferred', 'revenue'), ('voucher_issue', 'promotion', 'voucher'),
        ('voucher_end', 'voucher', 'promotion'), ('fee', 'fees', 'alipay_clearing'), ('write_off', 'write_off', 'cash')
    ) AND NEW.kind IN (
        'prepayment', 'prepayment_back', 'recognition', 'voucher_issue', 'voucher_end', 'fee', 'write_off'
    ) THEN
        RAISE EXCEPTION '% does not go from % to %', NEW.kind, payer.kind, receiver
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfer_goes_where_its_kind_says';
    ELSIF payer.kind = 'cash' AND"""

APPLY = """
CREATE OR REPLACE FUNCTION billing_transfer_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    payer billing_account;
    receiver text;
BEGIN
    -- Always the lower id first: two transfers between the same accounts never wait for each other.
    UPDATE billing_account
        SET balance_fen = balance_fen + CASE id WHEN NEW.credit_id THEN NEW.amount_fen ELSE -NEW.amount_fen END
        WHERE id = LEAST(NEW.debit_id, NEW.credit_id);
    UPDATE billing_account
        SET balance_fen = balance_fen + CASE id WHEN NEW.credit_id THEN NEW.amount_fen ELSE -NEW.amount_fen END
        WHERE id = GREATEST(NEW.debit_id, NEW.credit_id);
    -- Usage has been consumed already: refusing to charge it would give it away, so it may lead a wallet into arrears.
    -- It is the only kind that may; a voucher never falls below zero (a check of the account).
    SELECT * INTO payer FROM billing_account WHERE id = NEW.debit_id;
    SELECT kind INTO receiver FROM billing_account WHERE id = NEW.credit_id;
%(usage)s payer.balance_fen + payer.credit_limit_fen - payer.held_fen < 0 THEN
        RAISE EXCEPTION 'the wallet does not cover this' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'wallet_covers_decisions';
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0009_topups"),
        ("tenants", "0005_guarantees"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="account",
            name="account_kind_fits_owner",
        ),
        migrations.RemoveConstraint(
            model_name="transfer",
            name="transfer_kind_known",
        ),
        migrations.AlterField(
            model_name="account",
            name="kind",
            field=models.CharField(
                choices=[
                    ("cash", "Wallet"),
                    ("voucher", "Vouchers"),
                    ("deferred", "Prepaid, not yet earned"),
                    ("revenue", "Revenue"),
                    ("alipay_clearing", "Alipay clearing"),
                    ("offline_clearing", "Offline payments clearing"),
                    ("fees", "Payment fees"),
                    ("refund_clearing", "Refund clearing"),
                    ("write_off", "Write-off"),
                    ("promotion", "Vouchers granted"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="transfer",
            name="kind",
            field=models.CharField(
                choices=[
                    ("top_up", "Top-up"),
                    ("usage", "Usage"),
                    ("correction", "Correction"),
                    ("credit", "Credit for lost work"),
                    ("refund", "Refund"),
                    ("prepayment", "Prepayment"),
                    ("recognition", "Prepayment, earned"),
                    ("prepayment_back", "Prepayment given back"),
                    ("voucher_issue", "Voucher granted"),
                    ("voucher_end", "Voucher ended unused"),
                    ("fee", "Payment fee"),
                    ("write_off", "Write-off"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ("cash", "voucher", "deferred", "revenue")), ("organisation__isnull", False)),
                    models.Q(
                        (
                            "kind__in",
                            (
                                "alipay_clearing",
                                "offline_clearing",
                                "fees",
                                "refund_clearing",
                                "write_off",
                                "promotion",
                            ),
                        ),
                        ("organisation__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="account_kind_fits_owner",
            ),
        ),
        migrations.AddConstraint(
            model_name="transfer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "top_up",
                            "usage",
                            "correction",
                            "credit",
                            "refund",
                            "prepayment",
                            "recognition",
                            "prepayment_back",
                            "voucher_issue",
                            "voucher_end",
                            "fee",
                            "write_off",
                        ],
                    )
                ),
                name="transfer_kind_known",
            ),
        ),
        migrations.RunSQL(APPLY % {"usage": USAGE_OF_WALLET_OR_VOUCHER}, APPLY % {"usage": USAGE_OF_A_WALLET}),
    ]
