-- Prices by the period of one package and term follow each other.
CREATE OR REPLACE FUNCTION billing_term_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_termprice
        WHERE package_id = NEW.package_id AND term = NEW.term AND number = NEW.number - 1
            AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'term_price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_term_price_follows BEFORE INSERT ON billing_termprice
    FOR EACH ROW EXECUTE FUNCTION billing_term_price_follows();
