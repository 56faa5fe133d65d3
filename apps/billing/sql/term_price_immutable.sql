-- A price by the period is closed once and never changed otherwise.
CREATE OR REPLACE FUNCTION billing_term_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND (NEW.id, NEW.package_id, NEW.term, NEW.number, NEW.price_fen, NEW.effective_from)
            = (OLD.id, OLD.package_id, OLD.term, OLD.number, OLD.price_fen, OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER billing_term_price_immutable BEFORE UPDATE OR DELETE ON billing_termprice
    FOR EACH ROW EXECUTE FUNCTION billing_term_price_immutable();
