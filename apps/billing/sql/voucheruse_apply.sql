-- A voucher keeps its own sums. pg_temp is named last, so that a caller's temporary tables cannot stand in for ours.
CREATE OR REPLACE FUNCTION billing_voucheruse_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    spent billing_voucher;
BEGIN
    UPDATE billing_voucher SET used_fen = used_fen + NEW.amount_fen, left_fen = left_fen - NEW.amount_fen,
        covered_exact = covered_exact + NEW.exact_fen WHERE id = NEW.voucher_id RETURNING * INTO spent;
    IF spent.organisation_id <> NEW.organisation_id OR NOT EXISTS (
        SELECT 1 FROM billing_ratingrun WHERE id = NEW.run_id AND organisation_id = NEW.organisation_id
    ) THEN
        RAISE EXCEPTION 'a voucher is used within its organisation' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_use_of_one_organisation';
    END IF;
    IF NEW.transfer_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM billing_transfer AS moved
            JOIN billing_account AS account
                ON account.id = CASE WHEN NEW.amount_fen > 0 THEN moved.debit_id ELSE moved.credit_id END
        WHERE moved.id = NEW.transfer_id AND moved.amount_fen = abs(NEW.amount_fen)
            AND (moved.kind = 'usage') = (NEW.amount_fen > 0)
            AND account.kind = 'voucher' AND account.organisation_id = NEW.organisation_id
    ) THEN
        RAISE EXCEPTION 'a voucher moves what its use says' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_use_is_its_transfer';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_voucheruse_apply AFTER INSERT ON billing_voucheruse
    FOR EACH ROW EXECUTE FUNCTION billing_voucheruse_apply();
