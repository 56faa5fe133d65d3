"""A posting and a rating ask the database once for what one key or one row already says."""

import django.db.models.deletion
from django.db import migrations, models

OWNER = """
CREATE OR REPLACE FUNCTION billing_transfer_owner() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    payer uuid;
    receiver uuid;
BEGIN
    SELECT debit.organisation_id, credit.organisation_id INTO payer, receiver
        FROM billing_account AS debit, billing_account AS credit
        WHERE debit.id = NEW.debit_id AND credit.id = NEW.credit_id;
    IF payer <> receiver THEN
        RAISE EXCEPTION 'money does not move between organisations' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'transfer_of_one_organisation';
    END IF;
    NEW.organisation_id := COALESCE(payer, receiver);
    RETURN NEW;
END $$;
"""

# The rows that the updates give back are the accounts as they are after it: nothing is read again.
APPLY = """
CREATE OR REPLACE FUNCTION billing_transfer_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    payer billing_account;
    receiver billing_account;
BEGIN
    -- Always the lower id first: two transfers between the same accounts never wait for each other.
    IF NEW.debit_id < NEW.credit_id THEN
        UPDATE billing_account SET balance_fen = balance_fen - NEW.amount_fen
            WHERE id = NEW.debit_id RETURNING * INTO payer;
        UPDATE billing_account SET balance_fen = balance_fen + NEW.amount_fen
            WHERE id = NEW.credit_id RETURNING * INTO receiver;
    ELSE
        UPDATE billing_account SET balance_fen = balance_fen + NEW.amount_fen
            WHERE id = NEW.credit_id RETURNING * INTO receiver;
        UPDATE billing_account SET balance_fen = balance_fen - NEW.amount_fen
            WHERE id = NEW.debit_id RETURNING * INTO payer;
    END IF;
    -- Usage has been consumed already: refusing to charge it would give it away, so it may lead a wallet into arrears.
    -- It is the only kind that may; a voucher never falls below zero (a check of the account).
    IF NEW.kind = 'usage' THEN
        IF payer.kind NOT IN ('cash', 'voucher') OR receiver.kind <> 'revenue' THEN
            RAISE EXCEPTION 'usage is paid by a wallet or a voucher to revenue' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'transfer_usage_to_revenue';
        END IF;
    ELSIF (NEW.kind, payer.kind, receiver.kind) NOT IN (
        ('prepayment', 'cash', 'deferred'), ('prepayment_back', 'deferred', 'cash'),
        ('recognition', 'deferred', 'revenue'), ('voucher_issue', 'promotion', 'voucher'),
        ('voucher_end', 'voucher', 'promotion'), ('fee', 'fees', 'alipay_clearing'), ('write_off', 'write_off', 'cash')
    ) AND NEW.kind IN (
        'prepayment', 'prepayment_back', 'recognition', 'voucher_issue', 'voucher_end', 'fee', 'write_off'
    ) THEN
        RAISE EXCEPTION '% does not go from % to %', NEW.kind, payer.kind, receiver.kind
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfer_goes_where_its_kind_says';
    ELSIF payer.kind = 'cash' AND payer.balance_fen + payer.credit_limit_fen - payer.held_fen < 0 THEN
        RAISE EXCEPTION 'the wallet does not cover this' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'wallet_covers_decisions';
    END IF;
    RETURN NULL;
END $$;
"""

# Balances change all the time: new versions of a row find room beside the old one and touch no index.
ROOM = "ALTER TABLE billing_account SET (fillfactor = 50)"

FIRST_ONCE = """
CREATE UNIQUE INDEX IF NOT EXISTS slice_first_once ON billing_usageslice (session_id) WHERE prev_end IS NULL
"""


def key(to: str, **options: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, **options)


class Migration(migrations.Migration):
    dependencies = [("billing", "0021_unit_price_rules")]

    operations = [
        migrations.RunSQL(OWNER, migrations.RunSQL.noop),
        migrations.RunSQL(APPLY, migrations.RunSQL.noop),
        migrations.RunSQL(ROOM, "ALTER TABLE billing_account RESET (fillfactor)"),
        migrations.AlterField("transfer", "idem", models.CharField(max_length=200)),
        migrations.AddConstraint("transfer", models.UniqueConstraint(fields=["idem"], name="transfer_idem_once")),
        migrations.AlterField(
            "transfer",
            "organisation",
            key("tenants.organisation", db_index=False, null=True, related_name="+"),
        ),
        migrations.AlterField("charge", "run", key("billing.ratingrun", db_constraint=False, related_name="charges")),
        migrations.AlterField(
            "charge",
            "organisation",
            key("tenants.organisation", db_constraint=False, db_index=False, related_name="+"),
        ),
        migrations.AlterField(
            "charge",
            "session",
            key("billing.metersession", db_constraint=False, db_index=False, related_name="charges"),
        ),
        migrations.AlterField("charge", "price_version", key("billing.priceversion", db_index=False, related_name="+")),
        migrations.AlterField(
            "usageslice",
            "session",
            key("billing.metersession", db_constraint=False, db_index=False, related_name="slices"),
        ),
        # The line above drops every index on that column alone, this one of a constraint included.
        migrations.RunSQL(FIRST_ONCE, migrations.RunSQL.noop),
        migrations.AlterField(
            "usageslice",
            "organisation",
            key("tenants.organisation", db_constraint=False, db_index=False, related_name="+"),
        ),
    ]
