"""Balances follow transfers and holds, by triggers that run with the owner's rights: nobody else can write them."""

from django.db import migrations

from apps.common.append_only import append_only

ACCOUNT = """
CREATE FUNCTION billing_account_starts_empty() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.balance_fen <> 0 OR NEW.held_fen <> 0 THEN
        RAISE EXCEPTION 'an account starts empty' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'account_starts_empty';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_account_starts_empty BEFORE INSERT ON billing_account
    FOR EACH ROW EXECUTE FUNCTION billing_account_starts_empty();
"""

# pg_temp is named last, so that a caller's temporary tables cannot stand in for ours.
TRANSFER = """
CREATE FUNCTION billing_transfer_owner() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    owners uuid[];
BEGIN
    SELECT array_agg(DISTINCT organisation_id) FILTER (WHERE organisation_id IS NOT NULL) INTO owners
        FROM billing_account WHERE id IN (NEW.debit_id, NEW.credit_id);
    IF cardinality(owners) > 1 THEN
        RAISE EXCEPTION 'money does not move between organisations' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'transfer_of_one_organisation';
    END IF;
    NEW.organisation_id := owners[1];
    RETURN NEW;
END $$;

CREATE TRIGGER billing_transfer_owner BEFORE INSERT ON billing_transfer
    FOR EACH ROW EXECUTE FUNCTION billing_transfer_owner();

-- After the row is certain to be in: a BEFORE trigger also runs for a row that ON CONFLICT then drops.
CREATE FUNCTION billing_transfer_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    payer billing_account;
BEGIN
    -- Always the lower id first: two transfers between the same accounts never wait for each other.
    UPDATE billing_account
        SET balance_fen = balance_fen + CASE id WHEN NEW.credit_id THEN NEW.amount_fen ELSE -NEW.amount_fen END
        WHERE id = LEAST(NEW.debit_id, NEW.credit_id);
    UPDATE billing_account
        SET balance_fen = balance_fen + CASE id WHEN NEW.credit_id THEN NEW.amount_fen ELSE -NEW.amount_fen END
        WHERE id = GREATEST(NEW.debit_id, NEW.credit_id);
    -- Usage has been consumed already: refusing to charge it would give it away, so it may lead into arrears.
    -- It is the only kind that may, and only out of a wallet into the same organisation's revenue.
    SELECT * INTO payer FROM billing_account WHERE id = NEW.debit_id;
    IF NEW.kind = 'usage' THEN
        IF payer.kind <> 'cash' OR NOT EXISTS (
            SELECT 1 FROM billing_account WHERE id = NEW.credit_id AND kind = 'revenue'
        ) THEN
            RAISE EXCEPTION 'usage is paid by a wallet to revenue' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'transfer_usage_to_revenue';
        END IF;
    ELSIF payer.kind = 'cash' AND payer.balance_fen + payer.credit_limit_fen - payer.held_fen < 0 THEN
        RAISE EXCEPTION 'the wallet does not cover this' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'wallet_covers_decisions';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER billing_transfer_apply AFTER INSERT ON billing_transfer
    FOR EACH ROW EXECUTE FUNCTION billing_transfer_apply();
"""

HOLD = """
CREATE FUNCTION billing_hold_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    wallet billing_account;
BEGIN
    UPDATE billing_account SET held_fen = held_fen + NEW.amount_fen
        WHERE organisation_id = NEW.organisation_id AND kind = 'cash' RETURNING * INTO wallet;
    IF wallet.id IS NULL THEN
        RAISE EXCEPTION 'the organisation has no wallet' USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF NEW.amount_fen > 0 AND wallet.balance_fen + wallet.credit_limit_fen - wallet.held_fen < 0 THEN
        RAISE EXCEPTION 'the wallet does not cover this' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'wallet_covers_decisions';
    END IF;
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_hold AS former JOIN billing_holdend AS ended ON ended.hold_id = former.id
        WHERE former.workload_id = NEW.workload_id AND former.number = NEW.number - 1
            AND former.organisation_id = NEW.organisation_id
    ) THEN
        RAISE EXCEPTION 'the former hold of this workload is still open' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'hold_one_open';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER billing_hold_apply AFTER INSERT ON billing_hold
    FOR EACH ROW EXECUTE FUNCTION billing_hold_apply();

CREATE FUNCTION billing_holdend_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    ended billing_hold;
BEGIN
    SELECT * INTO ended FROM billing_hold WHERE id = NEW.hold_id;
    IF ended.organisation_id IS DISTINCT FROM NEW.organisation_id THEN
        RAISE EXCEPTION 'a hold ends within its organisation' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'hold_end_of_one_organisation';
    END IF;
    UPDATE billing_account SET held_fen = held_fen - ended.amount_fen
        WHERE organisation_id = ended.organisation_id AND kind = 'cash';
    RETURN NULL;
END $$;

CREATE TRIGGER billing_holdend_apply AFTER INSERT ON billing_holdend
    FOR EACH ROW EXECUTE FUNCTION billing_holdend_apply();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]

    operations = [
        migrations.RunSQL(ACCOUNT, "DROP FUNCTION billing_account_starts_empty CASCADE"),
        migrations.RunSQL(
            TRANSFER, "DROP FUNCTION billing_transfer_owner CASCADE; DROP FUNCTION billing_transfer_apply CASCADE"
        ),
        migrations.RunSQL(
            HOLD, "DROP FUNCTION billing_hold_apply CASCADE; DROP FUNCTION billing_holdend_apply CASCADE"
        ),
        append_only("billing_transfer"),
        append_only("billing_hold"),
        append_only("billing_holdend"),
    ]
