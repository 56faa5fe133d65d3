-- Deferred to the commit, when the uses of vouchers, which name the run, are there too.
CREATE OR REPLACE FUNCTION billing_run_moves() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NEW.voucher_fen <> (SELECT COALESCE(sum(amount_fen), 0) FROM billing_voucheruse WHERE run_id = NEW.id)
        OR NEW.transfer_id IS NOT NULL AND abs(NEW.amount_fen - NEW.voucher_fen) <> (
            SELECT amount_fen FROM billing_transfer WHERE id = NEW.transfer_id
        ) THEN
        RAISE EXCEPTION 'a rating run moves what it says' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'run_moves_its_amount';
    END IF;
    RETURN NULL;
END $$;

-- A constraint trigger cannot be replaced.
DROP TRIGGER IF EXISTS billing_run_moves ON billing_ratingrun;
CREATE CONSTRAINT TRIGGER billing_run_moves AFTER INSERT ON billing_ratingrun
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION billing_run_moves();
