-- A price of the list is closed once and never changed otherwise.
CREATE OR REPLACE FUNCTION billing_unit_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND (NEW.id, NEW.item, NEW.gpu_model, NEW.gpu_mode, NEW.mig_profile, NEW.number, NEW.rate_fen_per_hour,
             NEW.effective_from)
            = (OLD.id, OLD.item, OLD.gpu_model, OLD.gpu_mode, OLD.mig_profile, OLD.number, OLD.rate_fen_per_hour,
               OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price of the list is not allowed', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER billing_unit_price_immutable BEFORE UPDATE OR DELETE ON billing_unitprice
    FOR EACH ROW EXECUTE FUNCTION billing_unit_price_immutable();
