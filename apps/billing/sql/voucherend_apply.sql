-- All that is left of a voucher ends with its transfer, once it has expired or was voided.
CREATE OR REPLACE FUNCTION billing_voucherend_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    ended billing_voucher;
BEGIN
    UPDATE billing_voucher SET left_fen = left_fen - NEW.amount_fen WHERE id = NEW.voucher_id RETURNING * INTO ended;
    IF ended.organisation_id <> NEW.organisation_id OR ended.left_fen <> 0
        OR ended.voided_at IS NULL AND ended.valid_until > now()
        OR NOT EXISTS (
            SELECT 1 FROM billing_transfer WHERE id = NEW.transfer_id AND kind = 'voucher_end'
            AND organisation_id = NEW.organisation_id AND amount_fen = NEW.amount_fen
        ) THEN
        RAISE EXCEPTION 'all that is left of a voucher ends, when it is over' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_end_is_its_transfer';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_voucherend_apply AFTER INSERT ON billing_voucherend
    FOR EACH ROW EXECUTE FUNCTION billing_voucherend_apply();
