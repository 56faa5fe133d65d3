-- Prices of one item of the list follow each other.
CREATE OR REPLACE FUNCTION billing_unit_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_unitprice
        WHERE (item, gpu_model, gpu_mode, mig_profile) = (NEW.item, NEW.gpu_model, NEW.gpu_mode, NEW.mig_profile)
            AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'unit_price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_unit_price_follows BEFORE INSERT ON billing_unitprice
    FOR EACH ROW EXECUTE FUNCTION billing_unit_price_follows();
