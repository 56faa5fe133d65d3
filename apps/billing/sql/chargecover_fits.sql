-- What is given back was covered before, whatever the voucher has become since.
CREATE OR REPLACE FUNCTION billing_chargecover_fits() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM billing_charge AS charge
            JOIN billing_voucher AS voucher ON voucher.id = NEW.voucher_id
            JOIN billing_priceversion AS price ON price.id = charge.price_version_id
            JOIN billing_package AS package ON package.id = price.package_id
        WHERE charge.id = NEW.charge_id AND charge.organisation_id = NEW.organisation_id
            AND voucher.organisation_id = NEW.organisation_id
            AND (NEW.exact_fen < 0 AND charge.revision > 0 OR NEW.exact_fen > 0 AND charge.revision = 0
                AND charge.start >= voucher.valid_from AND charge."end" <= voucher.valid_until
                AND CASE voucher.scope
                    WHEN 'everything' THEN true
                    WHEN 'package' THEN package.id = voucher.package_id
                    WHEN 'gpu_model' THEN package.gpu_model = voucher.gpu_model
                    WHEN 'storage' THEN package.resource = 'storage'
                END)
    ) THEN
        RAISE EXCEPTION 'the voucher does not fit this charge' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'cover_fits';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_chargecover_fits BEFORE INSERT ON billing_chargecover
    FOR EACH ROW EXECUTE FUNCTION billing_chargecover_fits();
