-- A price version is closed once and never changed otherwise; so is what it was made of.
CREATE OR REPLACE FUNCTION billing_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND NEW.basis IS NOT DISTINCT FROM OLD.basis
        AND (NEW.id, NEW.package_id, NEW.number, NEW.rate_fen_per_hour, NEW.effective_from)
            = (OLD.id, OLD.package_id, OLD.number, OLD.rate_fen_per_hour, OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price version is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER billing_price_immutable BEFORE UPDATE OR DELETE ON billing_priceversion
    FOR EACH ROW EXECUTE FUNCTION billing_price_immutable();
