-- Discounts of an organisation follow each other: a new one begins when the former has ended.
CREATE OR REPLACE FUNCTION billing_discount_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_discount
        WHERE organisation_id = NEW.organisation_id AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former discount is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'discount_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_discount_follows BEFORE INSERT ON billing_discount
    FOR EACH ROW EXECUTE FUNCTION billing_discount_follows();
