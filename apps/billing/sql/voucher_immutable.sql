-- A voucher may be voided once. What is left of it is written by voucheruse_apply and voucherend_apply.
CREATE OR REPLACE FUNCTION billing_voucher_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.organisation_id, NEW.amount_fen, NEW.scope, NEW.package_id, NEW.gpu_model, NEW.valid_from,
            NEW.valid_until, NEW.note, NEW.transfer_id, NEW.issued_by, NEW.created_at)
        IS NOT DISTINCT FROM
            (OLD.id, OLD.organisation_id, OLD.amount_fen, OLD.scope, OLD.package_id, OLD.gpu_model, OLD.valid_from,
            OLD.valid_until, OLD.note, OLD.transfer_id, OLD.issued_by, OLD.created_at)
        AND (OLD.voided_at IS NULL OR NEW.voided_at = OLD.voided_at) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a voucher is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER billing_voucher_immutable BEFORE UPDATE OR DELETE ON billing_voucher
    FOR EACH ROW EXECUTE FUNCTION billing_voucher_immutable();
