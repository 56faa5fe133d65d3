-- Runs with the owner's rights, as the application's role cannot write an account's held sum.
-- pg_temp is named last, so that a caller's temporary tables cannot stand in for ours.
CREATE OR REPLACE FUNCTION billing_hold_apply() RETURNS trigger LANGUAGE plpgsql
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

CREATE OR REPLACE TRIGGER billing_hold_apply AFTER INSERT ON billing_hold
    FOR EACH ROW EXECUTE FUNCTION billing_hold_apply();
