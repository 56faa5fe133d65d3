-- An end that is still to come may be brought forward, to now at the earliest: what was in force has been in force.
CREATE OR REPLACE FUNCTION billing_discount_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.organisation_id, NEW.number, NEW.off, NEW.effective_from, NEW.note, NEW.made_by,
            NEW.created_at)
        = (OLD.id, OLD.organisation_id, OLD.number, OLD.off, OLD.effective_from, OLD.note, OLD.made_by,
            OLD.created_at)
        AND NEW.effective_to >= now() AND (OLD.effective_to IS NULL OR NEW.effective_to < OLD.effective_to) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a discount is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER billing_discount_immutable BEFORE UPDATE OR DELETE ON billing_discount
    FOR EACH ROW EXECUTE FUNCTION billing_discount_immutable();
