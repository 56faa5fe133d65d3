-- A voucher begins with what its transfer granted.
CREATE OR REPLACE FUNCTION billing_voucher_starts_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.left_fen <> NEW.amount_fen OR NEW.used_fen <> 0 OR NEW.covered_exact <> 0 OR NEW.voided_at IS NOT NULL
        OR NOT EXISTS (
            SELECT 1 FROM billing_transfer WHERE id = NEW.transfer_id AND kind = 'voucher_issue'
            AND organisation_id = NEW.organisation_id AND amount_fen = NEW.amount_fen
        ) THEN
        RAISE EXCEPTION 'a voucher starts full, with what was granted' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_starts_full';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_voucher_starts_full BEFORE INSERT ON billing_voucher
    FOR EACH ROW EXECUTE FUNCTION billing_voucher_starts_full();
