"""A posting reads and locks no more than it changes, and holds its accounts as short as it can.

Foreign keys were checked at the commit, while the accounts were held, and each check locked and wrote a row again. What
they promised is now said by triggers: a transfer names accounts that are there, and an account stays what it is for ever
(which holds its organisation as well, by the account's own key).
"""

import django.db.models.deletion
from django.db import migrations, models

# Whoever writes a transfer mostly knows whose it is. The accounts are read for that only where it is left open, and
# what was said is checked against the rows that the updates give back.
OWNER = """
CREATE OR REPLACE FUNCTION billing_transfer_owner() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT COALESCE(debit.organisation_id, credit.organisation_id) INTO NEW.organisation_id
        FROM billing_account AS debit, billing_account AS credit
        WHERE debit.id = NEW.debit_id AND credit.id = NEW.credit_id;
    RETURN NEW;
END $$;
DROP TRIGGER billing_transfer_owner ON billing_transfer;
CREATE TRIGGER billing_transfer_owner BEFORE INSERT ON billing_transfer
    FOR EACH ROW WHEN (NEW.organisation_id IS NULL) EXECUTE FUNCTION billing_transfer_owner();
"""

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
    IF payer.id IS NULL OR receiver.id IS NULL THEN
        RAISE EXCEPTION 'a transfer is between two accounts' USING ERRCODE = 'foreign_key_violation',
            CONSTRAINT = 'transfer_names_accounts';
    ELSIF payer.organisation_id <> receiver.organisation_id
        OR NEW.organisation_id IS DISTINCT FROM COALESCE(payer.organisation_id, receiver.organisation_id) THEN
        RAISE EXCEPTION 'money does not move between organisations' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'transfer_of_one_organisation';
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

STAYS = """
CREATE FUNCTION billing_account_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an account stays what it is' USING ERRCODE = 'foreign_key_violation',
        CONSTRAINT = 'account_stays';
END $$;
CREATE TRIGGER billing_account_stays BEFORE DELETE ON billing_account
    FOR EACH ROW EXECUTE FUNCTION billing_account_stays();
CREATE TRIGGER billing_account_stays_itself BEFORE UPDATE OF id, organisation_id, kind ON billing_account
    FOR EACH ROW WHEN ((OLD.id, OLD.organisation_id, OLD.kind) IS DISTINCT FROM (NEW.id, NEW.organisation_id, NEW.kind))
    EXECUTE FUNCTION billing_account_stays();
"""


def key(to: str, **options: object) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=to, db_constraint=False, **options)


class Migration(migrations.Migration):
    dependencies = [("billing", "0026_untold_payments")]

    operations = [
        migrations.RunSQL(OWNER, migrations.RunSQL.noop),
        migrations.RunSQL(APPLY, migrations.RunSQL.noop),
        migrations.RunSQL(STAYS, "DROP FUNCTION billing_account_stays CASCADE"),
        migrations.AlterField("transfer", "debit", key("billing.account", related_name="debits")),
        migrations.AlterField("transfer", "credit", key("billing.account", related_name="credits")),
        migrations.AlterField(
            "transfer", "organisation", key("tenants.organisation", db_index=False, null=True, related_name="+")
        ),
    ]
