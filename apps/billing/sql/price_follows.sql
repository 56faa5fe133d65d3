-- Versions of a package's price follow each other: a new one begins when the former has ended.
CREATE OR REPLACE FUNCTION billing_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_priceversion
        WHERE package_id = NEW.package_id AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_price_follows BEFORE INSERT ON billing_priceversion
    FOR EACH ROW EXECUTE FUNCTION billing_price_follows();
