-- Whoever writes a transfer mostly knows whose it is. The accounts are read for that only where it is left open;
-- transfer_apply checks what was said.
CREATE OR REPLACE FUNCTION billing_transfer_owner() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT COALESCE(debit.organisation_id, credit.organisation_id) INTO NEW.organisation_id
        FROM billing_account AS debit, billing_account AS credit
        WHERE debit.id = NEW.debit_id AND credit.id = NEW.credit_id;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_transfer_owner BEFORE INSERT ON billing_transfer
    FOR EACH ROW WHEN (NEW.organisation_id IS NULL) EXECUTE FUNCTION billing_transfer_owner();
